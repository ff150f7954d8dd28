// Programs that differentiate: a smooth function of a value of any type with floats in it, and its
// derivatives along a direction in every mode, beside what differences are made of.
#include "fuzz/programs/context.h"
#include "fuzz/programs/generate.h"

namespace melix::fuzz::programs {

namespace {

constexpr double costOfTarget = 3000;

const Type& real() {
  static const Type type = scalar(Kind::F64);
  return type;
}

/// A point without ties: no two of its floats are equal.
NodePtr point(Context& c, const Type& type) {
  auto generic = [&] { return static_cast<double>(c.between(-1'500'000, 1'500'000)) / 1e6 + 1e-7; };
  std::vector<NodePtr> kids;
  switch (type->kind) {
  case Kind::F64: return literal(type, 0, generic());
  case Kind::I64: return literal(type, c.between(-3, 6));
  case Kind::Array: {
    int64_t count = std::stoll(type->dims[0]);
    std::vector<std::string> rest(type->dims.begin() + 1, type->dims.end());
    Type row = rest.empty() ? type->parts[0] : arrayOf(type->parts[0], rest);
    for (int64_t k = 0; k < count; ++k) kids.push_back(point(c, row));
    return make(Form::Array, type, std::move(kids));
  }
  case Kind::List:
    for (int64_t k = c.between(1, 3); k > 0; --k) kids.push_back(point(c, type->parts[0]));
    return make(Form::List, type, std::move(kids));
  case Kind::Tuple:
    for (const Type& part : type->parts) kids.push_back(point(c, part));
    return make(Form::Tuple, type, std::move(kids));
  case Kind::Struct:
    for (const auto& [name, field] : c.program.findStruct(type->name)->fields)
      kids.push_back(point(c, field));
    return make(Form::Make, type, std::move(kids), type->name);
  case Kind::Enum: {
    const Choice* choice = c.program.findEnum(type->name);
    const Record* r = &choice->cases[1 + c.below(choice->cases.size() - 1)];
    bool leaf = c.chance(50);
    if (leaf) r = &choice->cases[0];
    for (const auto& [name, field] : r->fields) kids.push_back(point(c, field));
    return make(Form::Make, type, std::move(kids), r->name);
  }
  default: return literal(type, c.between(0, 1), 0, false);
  }
}

/// `of` weighed: a linear function of each of its floats, as text. Enums are weighed by the function `w` and
/// the name of the type.
std::string weighed(Context& c, const Type& type, const std::string& of) {
  auto weight = [&] { return "(" + std::to_string(static_cast<double>(c.between(1, 15)) / 8) + " as f64)"; };
  switch (type->kind) {
  case Kind::F64: return "(" + of + " * " + weight() + ")";
  case Kind::Array: {
    std::string name = c.freshName("e");
    if (type->parts[0]->kind == Kind::F64) return "(sum(" + of + ") * " + weight() + ")";
    std::string inner = weighed(c, type->parts[0], name);
    return "sum(for " + name + " in " + of + ": " + inner + ")";
  }
  case Kind::List: {
    std::string name = c.freshName("e");
    return "sum(for " + name + " in " + of + ": " + weighed(c, type->parts[0], name) + ")";
  }
  case Kind::Tuple:
  case Kind::Struct: {
    std::string out;
    const Record* r = type->kind == Kind::Struct ? c.program.findStruct(type->name) : nullptr;
    size_t count = r ? r->fields.size() : type->parts.size();
    for (size_t k = 0; k < count; ++k)
      out += (k ? " + " : "(") + weighed(c, r ? r->fields[k].second : type->parts[k],
                                         of + "." + (r ? r->fields[k].first : std::to_string(k)));
    return out + ")";
  }
  case Kind::Enum: return "w" + type->name + "(" + of + ")";
  default: return "(0.0 as f64)";
  }
}

/// `fn wE(p: E) -> f64`: the weighed floats of an enum.
void declareWeights(Context& c) {
  for (const Choice& choice : c.program.enums) {
    auto f = std::make_shared<Function>();
    f->name = "w" + choice.name;
    f->smooth = true;
    Type type = enumOf(choice.name);
    std::string at = c.freshName("p");
    f->parameters = {{at, type}};
    f->result = real();
    std::vector<NodePtr> kids = {nameOf(at, type)};
    for (const Record& r : choice.cases) {
      NodePtr arm = make(Form::Arm, real(), {}, r.name);
      std::string sum = "(0.0 as f64)";
      for (const auto& [name, field] : r.fields) {
        arm->names.push_back(c.freshName("q"));
        sum += " + " + weighed(c, field, arm->names.back());
      }
      arm->kids = {make(Form::Text, real(), {}, "(" + sum + ")")};
      kids.push_back(std::move(arm));
    }
    f->body = block({}, make(Form::Match, real(), std::move(kids)));
    f->cost = 20;
    c.program.functions.push_back(f);
  }
}

void declareRecords(Context& c) {
  for (int64_t n = c.between(0, 2); n > 0; --n) {
    Record r{c.freshName("S"), {{c.freshName("m"), real()}}};
    for (int64_t k = c.between(1, 3); k > 0; --k) {
      Type type = c.chance(35)   ? arrayOf(real(), {std::to_string(c.between(1, 3))})
                  : c.chance(20) ? scalar(Kind::I64)
                  : c.chance(20) && !c.program.structs.empty() ? structOf(c.pick(c.program.structs).name)
                                                               : real();
      r.fields.emplace_back(c.freshName("m"), type);
    }
    c.program.structs.push_back(std::move(r));
  }
  if (c.chance(50)) return;
  Choice e{c.freshName("E"), {}};
  for (int64_t k = 0; k < 3; ++k) {
    Record r{c.freshName("C"), {{c.freshName("m"), real()}}};
    if (k > 0 && c.chance(50)) r.fields.emplace_back(c.freshName("m"), enumOf(e.name));
    if (c.chance(25)) r.fields.emplace_back(c.freshName("m"), arrayOf(real(), {"2"}));
    e.cases.push_back(std::move(r));
  }
  if (c.chance(40)) e.cases.back().fields.clear();
  c.program.enums.push_back(std::move(e));
}

/// What is differentiated by: never without floats.
Type pointType(Context& c) {
  auto small = [&] { return std::to_string(c.between(1, 4)); };
  size_t roll = c.below(100);
  if (roll < 20) return real();
  if (roll < 45) return arrayOf(real(), {small()});
  if (roll < 55) return arrayOf(real(), {small(), small()});
  if (roll < 70 && !c.program.structs.empty()) return structOf(c.pick(c.program.structs).name);
  if (roll < 78 && !c.program.structs.empty())
    return arrayOf(structOf(c.pick(c.program.structs).name), {small()});
  if (roll < 88 && !c.program.enums.empty()) return enumOf(c.pick(c.program.enums).name);
  if (roll < 94) return listOf(real());
  return tupleOf({real(), arrayOf(real(), {small()})});
}

/// The function that is differentiated; its sizes are names where the point is an array.
std::shared_ptr<Function> target(Context& c, const Type& at) {
  auto f = std::make_shared<Function>();
  f->name = c.freshName("f");
  f->smooth = true;
  Type type = at;
  if (at->kind == Kind::Array && c.chance(60)) {
    std::vector<std::string> dims;
    for (size_t k = 0; k < at->dims.size(); ++k) {
      f->sizes.push_back(c.freshName("N"));
      dims.push_back(f->sizes.back());
    }
    type = arrayOf(at->parts[0], std::move(dims));
  }
  std::string name = c.freshName("p");
  f->parameters.push_back({name, type});
  f->result = real();
  Context inner{c.random, c.program};
  inner.style = c.style;
  inner.fresh = c.fresh;
  inner.limit = costOfTarget;
  // No `return` of its own, which might come before what depends on the point; those of what it calls stay.
  for (const std::string& size : f->sizes) inner.sizes.push_back({size, 4, false});
  inner.variables.push_back({name, type});
  std::vector<NodePtr> body;
  statements(inner, body, 2 + c.below(5), 3);
  NodePtr value = expression(inner, real(), 4);
  // The result depends on every float, and so does its slope.
  NodePtr certain = make(Form::Text, real(), {}, "sin(" + weighed(inner, type, name) + ")");
  c.fresh = inner.fresh;
  f->body = block(std::move(body), make(Form::Binary, real(), {value, certain}, "+"));
  f->cost = inner.cost;
  c.program.functions.push_back(f);
  return f;
}

void text(std::vector<NodePtr>& out, const std::string& line) {
  out.push_back(make(Form::Do, unit(), {make(Form::Text, unit(), {}, line)}));
}

/// Values along a line through the point, from which the checks make differences.
std::string along(const std::string& before, const std::string& after) {
  std::string out;
  for (const char* step : {"-2e-5", "-1e-5", "0.0", "1e-5", "2e-5"})
    out += std::string(out.empty() ? "" : ", ") + before + "(x + ((" + step + ") as f64) * d)" + after;
  return out;
}

void checks(Context& c, std::vector<NodePtr>& out, const std::string& type, bool array) {
  text(out, "print(\"first\", dot(grad(f)(x), d), jvp(f, x, d).1, dot(vjp(f, x).1(1.0 as f64), d), \"|\", " +
                along("f", "") + ")");
  if (c.chance(30)) return;
  std::string modes = "dot(jvp(grad(f), x, d).1, d), jvp((y: " + type + ") => jvp(f, y, d).1, x, d).1";
  if (c.chance(60)) modes += ", dot(grad((y: " + type + ") => jvp(f, y, d).1)(x), d)";
  if (c.chance(60)) modes += ", dot(grad((y: " + type + ") => dot(grad(f)(y), d))(x), d)";
  if (array && c.chance(50)) modes += ", dot(hvp(f)(x, d), d)";
  text(out, "print(\"second\", " + modes + ", \"|\", " + along("dot(grad(f)", ", d)") + ")");
}

} // namespace

Program generateDerivatives(Random& random) {
  Program program;
  Context c{random, program};
  c.style.smooth = c.style.elementary = true;
  program.strict = c.chance(30);
  declareRecords(c);
  declareWeights(c);
  c.limit = 1000;
  declareFunctions(c, c.below(4));
  Type at = pointType(c);
  std::shared_ptr<Function> f = target(c, at);
  std::vector<NodePtr> script;
  NodePtr x = make(Form::Let, unit(), {point(c, at)}, "x");
  x->asked = at;
  script.push_back(x);
  text(script, "let d = grad((y: " + at->text + ") => " + weighed(c, at, "y") + ")(x)");
  text(script, "let f = (y: " + at->text + ") => " + f->name + "(y)");
  text(script, "print(x, d)");
  bool array = at->kind == Kind::Array && at->parts[0]->kind == Kind::F64;
  checks(c, script, at->text, array);
  program.script = block(std::move(script));
  return program;
}

} // namespace melix::fuzz::programs
