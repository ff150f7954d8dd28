// Structs, enums, tuples, lists and functions as values.
#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

namespace {

bool mentions(const Record& r, const Type& type) {
  for (const auto& [name, field] : r.fields)
    if (same(field, type)) return true;
  return false;
}

NodePtr structValue(Context& c, const Type& type, int depth) {
  std::vector<NodePtr> kids;
  for (const auto& [name, field] : c.program.findStruct(type->name)->fields)
    kids.push_back(expression(c, field, depth - 1, false));
  return make(Form::Make, type, std::move(kids), type->name);
}

NodePtr listValue(Context& c, const Type& type, int depth) {
  const Type& element = type->parts[0];
  if (c.chance(30) && isScalar(element)) {
    std::string dim = randomDim(c);
    if (c.affords(c.guess(dim) * 3))
      return make(Form::Builtin, type, {expression(c, arrayOf(element, {dim}), depth - 1)}, "list");
  }
  std::vector<NodePtr> kids;
  for (int64_t k = c.between(0, 4); k > 0; --k) kids.push_back(expression(c, element, depth - 1));
  return make(Form::List, type, std::move(kids));
}

NodePtr functionValue(Context& c, const Type& type, int depth) {
  std::vector<const Function*> fits;
  for (const auto& f : c.program.functions) {
    if (f->parameters.size() + 1 != type->parts.size() || !f->variables.empty() || f->recursive) continue;
    if (!same(f->result, type->parts.back()) || !f->sizes.empty() || !c.affords(f->cost * 8)) continue;
    bool equal = true;
    for (size_t k = 0; k < f->parameters.size(); ++k)
      equal = equal && !f->parameters[k].isInout && same(f->parameters[k].type, type->parts[k]);
    if (equal) fits.push_back(f.get());
  }
  if (!fits.empty() && c.chance(50)) {
    const Function* f = c.pick(fits);
    c.cost += c.times * f->cost * 8;
    return nameOf(f->name, type);
  }
  return lambda(c, type, depth - 1);
}

NodePtr arm(Context& c, const std::string& name, const Record* payload, const Type& type, int depth,
            bool own) {
  Inner inner(c);
  NodePtr out = make(Form::Arm, type, {}, name);
  if (payload)
    for (const auto& [field, fieldType] : payload->fields) {
      out->names.push_back(c.freshName("p"));
      c.variables.push_back({out->names.back(), fieldType});
    }
  if (c.chance(15) && payload) {
    out->flag = true;
    out->kids.push_back(expression(c, scalar(Kind::Bool), depth - 1));
  }
  out->kids.push_back(type->kind == Kind::Unit ? nullptr : expression(c, type, depth - 1, own));
  return out;
}

NodePtr matchNumber(Context& c, const Type& type, int depth, bool own) {
  Type subject = scalar(Kind::I64);
  std::vector<NodePtr> kids = {
      make(Form::Binary, subject, {expression(c, subject, depth - 1), number(4)}, "%")};
  for (int64_t k = 0; k < c.between(1, 3); ++k) {
    NodePtr one = arm(c, "", nullptr, type, depth, own);
    one->integer = k;
    kids.push_back(std::move(one));
  }
  kids.push_back(arm(c, "_", nullptr, type, depth, own));
  return make(Form::Match, type, std::move(kids));
}

} // namespace

NodePtr matchOf(Context& c, const Type& type, int depth, bool own) {
  if (c.program.enums.empty() || c.chance(25)) return matchNumber(c, type, depth, own);
  const Choice& choice = c.pick(c.program.enums);
  NodePtr subject = expression(c, enumOf(choice.name), depth - 1);
  std::vector<NodePtr> kids = {subject};
  bool open = false;
  for (const Record& r : choice.cases) {
    if (c.chance(20)) {
      open = true;
      continue;
    }
    kids.push_back(arm(c, r.name, &r, type, depth, own));
    open = open || kids.back()->flag;
  }
  if (open || kids.size() == 1) kids.push_back(arm(c, "_", nullptr, type, depth, own));
  return make(Form::Match, type, std::move(kids));
}

NodePtr makeCase(Context& c, const Type& type, int depth) {
  const Choice* choice = c.program.findEnum(type->name);
  std::vector<const Record*> fits;
  for (const Record& r : choice->cases)
    if (depth > 1 || !mentions(r, type)) fits.push_back(&r);
  const Record* r = c.pick(fits);
  std::vector<NodePtr> kids;
  for (const auto& [name, field] : r->fields) {
    bool again = same(field, type);
    kids.push_back(again ? makeCase(c, type, depth - 1) : expression(c, field, depth - 1, false));
  }
  return make(Form::Make, type, std::move(kids), r->name);
}

NodePtr lambda(Context& c, const Type& type, int depth) {
  Inner inner(c);
  inner.pure();
  NodePtr out = make(Form::Lambda, type);
  for (size_t k = 0; k + 1 < type->parts.size(); ++k) {
    out->names.push_back(c.freshName("a"));
    c.variables.push_back({out->names.back(), type->parts[k]});
  }
  inner.repeat(3);
  out->kids.push_back(expression(c, type->parts.back(), depth - 1));
  return out;
}

NodePtr recordExpression(Context& c, const Type& type, int depth, bool own) {
  return choose(
      c,
      {{25, [&] { return leaf(c, type, own); }},
       {35,
        [&]() -> NodePtr {
          switch (type->kind) {
          case Kind::Struct: return structValue(c, type, depth);
          case Kind::Enum: return makeCase(c, type, depth);
          case Kind::List: return listValue(c, type, depth);
          case Kind::Function: return functionValue(c, type, depth);
          case Kind::Tuple: {
            std::vector<NodePtr> kids;
            for (const Type& part : type->parts) kids.push_back(expression(c, part, depth - 1));
            return make(Form::Tuple, type, std::move(kids));
          }
          default: return nullptr;
          }
        }},
       {8, [&] { return callOf(c, type, depth); }},
       {5,
        [&]() -> NodePtr { return type->kind == Kind::Function ? nullptr : matchOf(c, type, depth, own); }},
       {8,
        [&]() -> NodePtr { return type->kind == Kind::Function ? nullptr : blockOf(c, type, depth, own); }}});
}

NodePtr simplest(const Program& program, const Type& type, const std::function<int64_t(int64_t)>& below) {
  auto part = [&](const Type& t) { return simplest(program, t, below); };
  std::vector<NodePtr> kids;
  switch (type->kind) {
  case Kind::Bool: return literal(type, below(2), 0, false);
  case Kind::F32:
  case Kind::F64: return literal(type, 0, static_cast<double>(below(5)) / 2);
  case Kind::Array: {
    for (const std::string& dim : type->dims)
      kids.push_back(
          make(Form::Range, unit(), {number(0), sizeValue(dim)}, "_s" + std::to_string(kids.size())));
    kids.push_back(part(type->parts[0]));
    return make(Form::Builder, type, std::move(kids));
  }
  case Kind::List: return make(Form::List, type, {part(type->parts[0])});
  case Kind::Tuple:
    for (const Type& t : type->parts) kids.push_back(part(t));
    return make(Form::Tuple, type, std::move(kids));
  case Kind::Struct:
    for (const auto& [name, field] : program.findStruct(type->name)->fields) kids.push_back(part(field));
    return make(Form::Make, type, std::move(kids), type->name);
  case Kind::Enum:
    for (const Record& r : program.findEnum(type->name)->cases) {
      if (mentions(r, type)) continue;
      for (const auto& [name, field] : r.fields) kids.push_back(part(field));
      return make(Form::Make, type, std::move(kids), r.name);
    }
    return nullptr;
  case Kind::Function: {
    NodePtr out = make(Form::Lambda, type, {part(type->parts.back())});
    for (size_t k = 0; k + 1 < type->parts.size(); ++k) out->names.push_back("_a" + std::to_string(k));
    return out;
  }
  default: return literal(type, below(5));
  }
}

void declareTypes(Context& c) {
  for (int64_t n = c.between(0, 2); n > 0; --n) {
    Record r{c.freshName("S"), {}};
    for (int64_t k = c.between(1, 4); k > 0; --k) {
      Type type = c.chance(25) ? arrayOf(randomScalar(c), {std::to_string(c.between(1, 4))})
                  : c.chance(15) && !c.program.structs.empty() ? structOf(c.pick(c.program.structs).name)
                                                               : randomScalar(c);
      r.fields.emplace_back(c.freshName("m"), type);
    }
    c.program.structs.push_back(std::move(r));
  }
  for (int64_t n = c.between(0, 2); n > 0; --n) {
    Choice e{c.freshName("E"), {}};
    for (int64_t k = c.between(2, 4); k > 0; --k) {
      Record r{c.freshName("C"), {}};
      bool first = e.cases.empty();
      for (int64_t f = c.between(0, 2); f > 0; --f) {
        Type type = !first && c.chance(30)                       ? enumOf(e.name)
                    : c.chance(15)                               ? arrayOf(randomNumber(c), {"2"})
                    : c.chance(15) && !c.program.structs.empty() ? structOf(c.pick(c.program.structs).name)
                                                                 : randomScalar(c);
        r.fields.emplace_back(c.freshName("m"), type);
      }
      e.cases.push_back(std::move(r));
    }
    c.program.enums.push_back(std::move(e));
  }
}

} // namespace melix::fuzz::programs
