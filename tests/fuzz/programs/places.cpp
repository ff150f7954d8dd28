// What names in scope hold, reached by fields, elements and parts.
#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

namespace {

constexpr size_t deepest = 3;

/// The way from a variable to a part of the type wished for.
struct Way {
  const Variable* from;
  std::vector<Type> types;        ///< after each step
  std::vector<std::string> steps; ///< a field, "#" a part, "[" an element, "<" a row
  std::vector<int> numbers;
};

struct Search {
  Context& c;
  const Type& wanted;
  PlaceWish wish;
  std::vector<Way> found{};

  void from(const Variable& v) {
    Way way{&v, {}, {}, {}};
    visit(way, v.type);
  }

  void step(Way& way, const std::string& step, int at, const Type& type) {
    way.steps.push_back(step);
    way.numbers.push_back(at);
    way.types.push_back(type);
    visit(way, type);
    way.steps.pop_back();
    way.numbers.pop_back();
    way.types.pop_back();
  }

  void visit(Way& way, const Type& type) {
    if (same(type, wanted)) found.push_back(way);
    if (way.steps.size() == deepest || wish.inoutOnly) return;
    switch (type->kind) {
    case Kind::Struct: {
      const Record* r = c.program.findStruct(type->name);
      for (const auto& [name, field] : r->fields) step(way, name, 0, field);
      return;
    }
    case Kind::Tuple:
      if (wish.assignable) return;
      for (size_t k = 0; k < type->parts.size(); ++k) step(way, "#", static_cast<int>(k), type->parts[k]);
      return;
    case Kind::Array: return array(way, type);
    default: return;
    }
  }

  void array(Way& way, const Type& type) {
    for (size_t k = 0; k < type->dims.size(); ++k)
      if (!indexable(type->dims[k])) return;
    step(way, "[", static_cast<int>(type->dims.size()), type->parts[0]);
    if (type->dims.size() < 2) return;
    std::vector<std::string> rest(type->dims.begin() + 1, type->dims.end());
    step(way, "<", 1, arrayOf(type->parts[0], std::move(rest)));
  }

  bool indexable(const std::string& dim) const {
    if (!c.mayBeZero(dim)) return true;
    for (const Variable& v : c.variables)
      if (v.range == dim) return true;
    return false;
  }
};

NodePtr realise(Context& c, const Way& way) {
  NodePtr at = nameOf(way.from->name, way.from->type);
  for (size_t k = 0; k < way.steps.size(); ++k) {
    const std::string& step = way.steps[k];
    const Type& before = at->type;
    if (step == "#") {
      at = make(Form::Part, way.types[k], {at});
      at->integer = way.numbers[k];
      continue;
    }
    if (step != "[" && step != "<") {
      at = make(Form::Field, way.types[k], {at}, step);
      continue;
    }
    std::vector<NodePtr> kids = {at};
    for (int axis = 0; axis < way.numbers[k]; ++axis) {
      NodePtr index = indexFor(c, before->dims[static_cast<size_t>(axis)]);
      if (!index) return nullptr;
      kids.push_back(std::move(index));
    }
    at = make(Form::Index, way.types[k], std::move(kids));
  }
  return at;
}

} // namespace

NodePtr placeOf(Context& c, const Type& type, PlaceWish wish) {
  Search search{c, type, wish};
  for (size_t k = wish.assignable ? c.assignableFrom : 0; k < c.variables.size(); ++k) {
    const Variable& v = c.variables[k];
    if (!v.type || (wish.assignable && !v.assignable)) continue;
    search.from(v);
  }
  if (search.found.empty()) return nullptr;
  // The variables of the innermost blocks are the likeliest.
  size_t n = search.found.size();
  size_t at = n > 6 && c.chance(60) ? n - 1 - c.below(6) : c.below(n);
  Way way = search.found[at];
  Variable from = *way.from;
  way.from = &from;
  return realise(c, way);
}

/// An integer, plain inside of another index.
static NodePtr anyInteger(Context& c) {
  const Type type = scalar(Kind::I64);
  if (!c.indexing) {
    c.indexing = true;
    NodePtr out = expression(c, type, 1);
    c.indexing = false;
    return out;
  }
  std::vector<std::string> names;
  for (const Variable& v : c.variables)
    if (v.type && same(v.type, type)) names.push_back(v.name);
  return names.empty() ? literal(type, c.between(0, 9)) : nameOf(c.pick(names), type);
}

NodePtr indexFor(Context& c, const std::string& dim) {
  std::vector<std::string> running;
  for (const Variable& v : c.variables)
    if (v.range == dim) running.push_back(v.name);
  const Type index = scalar(Kind::I64);
  if (!running.empty() && c.chance(65)) return nameOf(c.pick(running), index);
  if (isNumeral(dim)) {
    int64_t size = std::stoll(dim);
    if (size > 0 && c.chance(45)) return number(c.between(0, size - 1));
    if (size > 0 && c.chance(20)) {
      NodePtr end = make(Form::FromEnd, index);
      end->integer = c.between(1, size);
      return end;
    }
  }
  if (c.mayBeZero(dim)) return running.empty() ? nullptr : nameOf(c.pick(running), index);
  if (!running.empty() && c.chance(40)) { // the mirror image
    NodePtr last = make(Form::Binary, index, {sizeValue(dim), number(1)}, "-");
    return make(Form::Binary, index, {last, nameOf(c.pick(running), index)}, "-");
  }
  NodePtr any = anyInteger(c);
  // In range or not: behind `min` the checker does not see an index that certainly leaves the range.
  if (c.style.risky && c.chance(10)) return make(Form::Builtin, index, {any, literal(index, 1000)}, "min");
  return make(Form::Binary, index, {any, sizeValue(dim)}, "%");
}

} // namespace melix::fuzz::programs
