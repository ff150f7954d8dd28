// Expressions of arrays: builders, operators, the library's array functions.
#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

namespace {

double sizeGuess(const Context& c, const Type& type) {
  double total = 1;
  for (const std::string& d : type->dims) total *= c.guess(d);
  return total;
}

bool numerals(const Type& type) {
  for (const std::string& d : type->dims)
    if (!isNumeral(d)) return false;
  return true;
}

NodePtr literalArray(Context& c, const Type& type, int depth, bool own) {
  if (!numerals(type) || sizeGuess(c, type) > 9 || sizeGuess(c, type) == 0) return nullptr;
  Type element = type->dims.size() == 1 ? type->parts[0]
                                        : arrayOf(type->parts[0], {type->dims.begin() + 1, type->dims.end()});
  std::vector<NodePtr> kids;
  for (int64_t k = std::stoll(type->dims[0]); k > 0; --k) {
    NodePtr kid = element->kind != Kind::Array ? expression(c, element, depth - 1, own)
                                               : literalArray(c, element, depth, own);
    if (!kid) return nullptr;
    kids.push_back(std::move(kid));
  }
  return make(Form::Array, type, std::move(kids));
}

/// An operator between arrays of one shape, or an array and a scalar.
NodePtr elementwise(Context& c, const Type& type, int depth) {
  Kind k = type->parts[0]->kind;
  if (!isNumber(k)) return nullptr;
  const char* op = std::vector<const char*>{"+", "-", "*"}[c.below(3)];
  auto side = [&](bool whole) { return expression(c, whole ? type : type->parts[0], depth - 1); };
  size_t shape = c.below(3); // both arrays, one of them
  NodePtr left = side(shape != 1);
  return make(Form::Binary, type, {left, side(shape != 2)}, op);
}

NodePtr compared(Context& c, const Type& type, int depth) {
  if (type->parts[0]->kind != Kind::Bool) return nullptr;
  Type numbers = arrayOf(randomNumber(c), type->dims);
  NodePtr left = expression(c, numbers, depth - 1);
  NodePtr right = expression(c, c.chance(50) ? numbers : numbers->parts[0], depth - 1);
  return make(Form::Binary, type, {left, right}, c.chance(50) ? "<" : ">=");
}

NodePtr selected(Context& c, const Type& type, int depth) {
  if (!isNumber(type->parts[0]->kind)) return nullptr;
  NodePtr mask = expression(c, arrayOf(scalar(Kind::Bool), type->dims), depth - 1);
  NodePtr yes = expression(c, type, depth - 1);
  return make(Form::Builtin, type, {mask, yes, expression(c, type, depth - 1)}, "select");
}

/// reverse, cumsum, sort, transpose, a function of every element.
NodePtr rearranged(Context& c, const Type& type, int depth) {
  Kind k = type->parts[0]->kind;
  bool vector = type->dims.size() == 1;
  if (type->dims.size() == 2 && c.chance(50)) {
    NodePtr of = expression(c, arrayOf(type->parts[0], {type->dims[1], type->dims[0]}), depth - 1);
    return make(Form::Builtin, type, {of}, "transpose");
  }
  bool sums = k == Kind::I64 || isFloat(k);
  switch (c.below(3)) {
  case 0: return make(Form::Builtin, type, {expression(c, type, depth - 1)}, "reverse");
  case 1: return sums ? make(Form::Builtin, type, {expression(c, type, depth - 1)}, "cumsum") : nullptr;
  default:
    if (!vector || !isNumber(k) || c.style.smooth) return nullptr;
    return make(Form::Builtin, type, {expression(c, type, depth - 1)}, "sort");
  }
}

NodePtr mapped(Context& c, const Type& type, int depth) {
  if (type->dims.size() != 1 || !isScalar(type->parts[0]) || !c.affords(sizeGuess(c, type) * 4))
    return nullptr;
  Type from = randomScalar(c);
  Inner inner(c);
  c.times *= sizeGuess(c, type);
  NodePtr f = lambda(c, functionOf({from}, type->parts[0]), depth - 1);
  NodePtr over = expression(c, arrayOf(from, type->dims), depth - 1);
  return make(Form::Builtin, type, {f, over}, "map");
}

NodePtr product(Context& c, const Type& type, int depth) {
  Kind k = type->parts[0]->kind;
  if ((k != Kind::I64 && !isFloat(k)) || type->dims.size() > 2) return nullptr;
  std::string inner = randomDim(c);
  if (!c.affords(sizeGuess(c, type) * c.guess(inner) * 2)) return nullptr;
  std::vector<std::string> left = {type->dims[0], inner}, right = {inner};
  if (type->dims.size() == 2) right.push_back(type->dims[1]);
  NodePtr a = expression(c, arrayOf(type->parts[0], left), depth - 1);
  return make(Form::Binary, type, {a, expression(c, arrayOf(type->parts[0], right), depth - 1)}, "@");
}

/// `scan` by a function of two numbers that is associative.
NodePtr scanned(Context& c, const Type& type, int depth) {
  const Type& element = type->parts[0];
  if (type->dims.size() != 1 || (element->kind != Kind::I64 && element->kind != Kind::U8)) return nullptr;
  std::string a = c.freshName("a"), b = c.freshName("a");
  bool adds = c.chance(50);
  NodePtr body = adds ? make(Form::Binary, element, {nameOf(a, element), nameOf(b, element)}, "+")
                      : make(Form::Builtin, element, {nameOf(a, element), nameOf(b, element)}, "max");
  NodePtr f = make(Form::Lambda, functionOf({element, element}, element), {body});
  f->names = {a, b};
  NodePtr unitValue = literal(element, adds || element->kind == Kind::U8 ? 0 : INT64_MIN);
  return make(Form::Builtin, type, {f, unitValue, expression(c, type, depth - 1)}, "scan");
}

/// Elements by an array of positions.
NodePtr gathered(Context& c, const Type& type, int depth) {
  if (type->dims.size() != 1 || !c.affords(sizeGuess(c, type) * 6)) return nullptr;
  std::string from = randomDim(c);
  if (c.mayBeZero(from)) return nullptr;
  NodePtr of = placeOf(c, arrayOf(type->parts[0], {from}));
  if (!of) return nullptr;
  Inner inner(c);
  inner.pure();
  inner.repeat(sizeGuess(c, type));
  Type index = scalar(Kind::I64);
  NodePtr range = make(Form::Range, unit(), {number(0), sizeValue(type->dims[0])}, c.freshName("i"));
  c.variables.push_back({range->name, index, false, type->dims[0]});
  NodePtr position = make(Form::Binary, index, {expression(c, index, depth - 1), sizeValue(from)}, "%");
  NodePtr ids = make(Form::Builder, arrayOf(index, type->dims), {range, position});
  return make(Form::Index, type, {of, ids});
}

/// A part of a longer array whose size is a number.
NodePtr sliced(Context& c, const Type& type, int) {
  if (!isNumeral(type->dims[0])) return nullptr;
  int64_t wanted = std::stoll(type->dims[0]);
  std::vector<std::pair<std::string, Type>> longer;
  for (const Variable& v : c.variables) {
    if (!v.type || v.type->kind != Kind::Array || v.type->dims.size() != type->dims.size()) continue;
    bool fits = isNumeral(v.type->dims[0]) && same(v.type->parts[0], type->parts[0]) &&
                std::stoll(v.type->dims[0]) >= wanted;
    for (size_t k = 1; fits && k < type->dims.size(); ++k) fits = v.type->dims[k] == type->dims[k];
    if (fits) longer.emplace_back(v.name, v.type);
  }
  if (longer.empty()) return nullptr;
  const auto& [name, of] = c.pick(longer);
  int64_t first = c.between(0, std::stoll(of->dims[0]) - wanted);
  NodePtr slice = make(Form::Slice, unit(), {number(first), number(first + wanted)});
  return make(Form::Index, type, {nameOf(name, of), slice});
}

NodePtr joinedArrays(Context& c, const Type& type, int depth) {
  if (type->dims.size() != 1 || !isNumeral(type->dims[0]) || !isScalar(type->parts[0])) return nullptr;
  int64_t total = std::stoll(type->dims[0]);
  if (total < 2 || total > 40) return nullptr;
  int64_t first = c.between(1, total - 1);
  NodePtr a = expression(c, arrayOf(type->parts[0], {std::to_string(first)}), depth - 1);
  NodePtr b = expression(c, arrayOf(type->parts[0], {std::to_string(total - first)}), depth - 1);
  return make(Form::Builtin, type, {a, b}, "concat");
}

NodePtr zeros(Context& c, const Type& type) {
  if (!isNumber(type->parts[0]->kind)) return nullptr;
  return make(Form::Zeros, type, {}, c.chance(50) ? "zeros" : "ones");
}

NodePtr overAxis(Context& c, const Type& type, int depth) {
  Kind k = type->parts[0]->kind;
  if ((k != Kind::I64 && !isFloat(k)) || type->dims.size() > 2) return nullptr;
  std::string extra = randomDim(c);
  if (!c.affords(sizeGuess(c, type) * c.guess(extra))) return nullptr;
  size_t axis = c.below(type->dims.size() + 1);
  std::vector<std::string> dims = type->dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), extra);
  const char* name = c.chance(60) || c.mayBeZero(extra) ? "sum" : c.chance(50) ? "max" : "min";
  if (c.style.smooth) name = "sum";
  NodePtr out = make(Form::Builtin, type, {expression(c, arrayOf(type->parts[0], dims), depth - 1)}, name);
  out->integer = static_cast<int64_t>(axis);
  return out;
}

} // namespace

NodePtr arrayExpression(Context& c, const Type& type, int depth, bool own) {
  if (!c.affords(sizeGuess(c, type) * 2)) return nullptr;
  return choose(c, {{22, [&] { return leaf(c, type, own); }},
                    {25, [&] { return builder(c, type, depth); }},
                    {8, [&] { return literalArray(c, type, depth, own); }},
                    {16, [&] { return elementwise(c, type, depth); }},
                    {4, [&] { return compared(c, type, depth); }},
                    {3, [&] { return selected(c, type, depth); }},
                    {6, [&] { return rearranged(c, type, depth); }},
                    {4, [&] { return mapped(c, type, depth); }},
                    {4, [&] { return product(c, type, depth); }},
                    {2, [&] { return scanned(c, type, depth); }},
                    {4, [&] { return gathered(c, type, depth); }},
                    {5, [&] { return sliced(c, type, depth); }},
                    {3, [&] { return joinedArrays(c, type, depth); }},
                    {4, [&] { return zeros(c, type); }},
                    {4, [&] { return overAxis(c, type, depth); }},
                    {8, [&] { return callOf(c, type, depth); }},
                    {5, [&] { return matchOf(c, type, depth, own); }},
                    {6, [&] { return blockOf(c, type, depth, own); }}});
}

NodePtr builder(Context& c, const Type& type, int depth, bool implicit) {
  double trips = sizeGuess(c, type);
  if (!c.affords(trips * 3)) return nullptr;
  Inner inner(c);
  inner.pure();
  std::vector<NodePtr> kids;
  for (const std::string& dim : type->dims) {
    NodePtr range = make(Form::Range, unit(), {number(0), sizeValue(dim)}, c.freshName("i"));
    range->integer = implicit ? 1 : 0;
    kids.push_back(std::move(range));
  }
  for (size_t k = 0; k < type->dims.size(); ++k)
    c.variables.push_back({kids[k]->name, scalar(Kind::I64), false, type->dims[k]});
  inner.repeat(trips);
  kids.push_back(expression(c, type->parts[0], depth - 1));
  return make(Form::Builder, type, std::move(kids));
}

NodePtr header(Context& c, double& trips, bool nonEmpty) {
  const Type index = scalar(Kind::I64);
  std::vector<std::pair<std::string, Type>> walked;
  for (const Variable& v : c.variables)
    if (v.type && (v.type->kind == Kind::List || (v.type->kind == Kind::Array && v.type->dims.size() == 1)))
      walked.emplace_back(v.name, v.type);
  if (!nonEmpty && !walked.empty() && c.chance(30)) {
    const auto& [name, type] = c.pick(walked);
    trips = type->kind == Kind::List ? 5 : c.guess(type->dims[0]);
    NodePtr walk = make(Form::Walk, unit(), {nameOf(name, type)});
    if (c.chance(35)) {
      walk->names.push_back(c.freshName("i"));
      c.variables.push_back({walk->names[0], index, false, type->kind == Kind::Array ? type->dims[0] : ""});
    }
    walk->names.push_back(c.freshName("e"));
    c.variables.push_back({walk->names.back(), type->parts[0]});
    return walk;
  }
  std::string dim = randomDim(c);
  if (nonEmpty && c.mayBeZero(dim)) dim = std::to_string(c.between(1, 4));
  trips = c.guess(dim);
  NodePtr range = make(Form::Range, unit(), {number(0), sizeValue(dim)}, c.freshName("i"));
  if (c.chance(15)) {
    int64_t low = c.between(nonEmpty ? 0 : -2, 3);
    range->kids = {number(low), number(low + c.between(nonEmpty ? 1 : 0, 4))};
    trips = 3;
    dim.clear();
  }
  c.variables.push_back({range->name, index, false, dim});
  return range;
}

} // namespace melix::fuzz::programs
