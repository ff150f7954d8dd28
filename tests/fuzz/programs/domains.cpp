// Programs about the domains of loops: which points compute what. Data are whole numbers, so any order of a
// sum has the same bits, and the evaluator knows gradients exactly.
#include "fuzz/programs/domains.h"

#include "fuzz/programs/evaluate.h"
#include "fuzz/programs/generate.h"

#include <algorithm>

namespace melix::fuzz::programs {

namespace {

constexpr size_t mostFunctions = 12, mostAttempts = 24;
constexpr uint64_t mostSteps = 2'500'000; ///< of the evaluator, for a whole program
constexpr int64_t shownWhole = 200;       ///< elements of an array that is printed; of others sums are
constexpr double exactBelow32 = 1 << 17, exactBelow64 = 1LL << 43; ///< sums in any order, far from rounding

struct Domain {
  Context& c;
  Type element;
  std::vector<NodePtr> lets{};                      ///< of the script: sizes and data
  std::vector<std::pair<std::string, Type>> data{}; ///< arrays of the script
  std::vector<std::string> sizes{};                 ///< those that are names in the script
};

/// Whole numbers of -5 to 5 without a pattern that loops could have.
NodePtr dataOf(Domain& d, const std::vector<std::string>& dims) {
  Context& c = d.c;
  std::vector<NodePtr> kids;
  NodePtr sum = number(c.between(0, 9));
  for (const std::string& dim : dims) {
    std::string i = c.freshName("i");
    kids.push_back(make(Form::Range, unit(), {number(0), sizeValue(dim)}, i));
    NodePtr square = operate("*", operate("*", named(i), named(i)), number(c.between(1, 9)));
    sum = operate("+", operate("+", sum, operate("*", named(i), number(c.between(1, 30)))), square);
  }
  int64_t m = c.pick(std::vector<int64_t>{5, 7, 11});
  kids.push_back(converted(d.element, operate("-", operate("%", sum, number(m)), number(m / 2))));
  return make(Form::Builder, arrayOf(d.element, dims), std::move(kids));
}

/// An array of the script of that type, perhaps one that is there.
NodePtr argument(Domain& d, const Type& type) {
  std::vector<NodePtr> fitting;
  for (const auto& [name, known] : d.data)
    if (same(known, type)) fitting.push_back(nameOf(name, known));
  if (!fitting.empty() && d.c.chance(50)) return d.c.pick(fitting);
  std::string name = d.c.freshName("d");
  d.lets.push_back(let(name, dataOf(d, type->dims)));
  d.data.emplace_back(name, type);
  return nameOf(name, type);
}

/// The size as the script writes it: a number, or a name whose value only the run knows.
std::string given(Domain& d, const Dim& dim, size_t call) {
  int64_t value = dim.values[call];
  if (isNumeral(dim.name) || d.c.chance(50)) return std::to_string(value);
  std::string name = "n" + std::to_string(value);
  if (std::find(d.sizes.begin(), d.sizes.end(), name) != d.sizes.end()) return name;
  d.sizes.push_back(name);
  d.lets.push_back(let(name, make(Form::Call, integer(), {number(value), number(3)}, "hidden")));
  return name;
}

Type replacedBy(const Type& type, const std::vector<Dim>& dims, const std::vector<std::string>& sizes) {
  return replaced(type, [&](const std::string& name) {
    for (size_t k = 0; k < dims.size(); ++k)
      if (dims[k].name == name) return sizes[k];
    return name;
  });
}

std::vector<NodePtr> ranges(Context& c, const Type& array) {
  std::vector<NodePtr> out;
  for (const std::string& dim : array->dims)
    out.push_back(make(Form::Range, unit(), {number(0), sizeValue(dim)}, c.freshName("i")));
  return out;
}

NodePtr at(const NodePtr& array, const std::vector<NodePtr>& heads) {
  std::vector<NodePtr> kids = {clone(array)};
  for (const NodePtr& head : heads) kids.push_back(named(head->name));
  return make(Form::Index, array->type->parts[0], std::move(kids));
}

/// A number for each place, different for those nearby.
NodePtr weight(Context& c, const std::vector<NodePtr>& heads, int64_t most) {
  NodePtr sum = number(c.between(0, most));
  for (const NodePtr& head : heads)
    sum = operate("+", sum, operate("*", named(head->name), number(c.between(2, 40))));
  return operate("-", operate("%", sum, number(2 * most + 1)), number(most));
}

/// Prints all elements as ints, or two weighted sums of them; ints have no sign of zero.
void printed(Domain& d, const NodePtr& value, int64_t elements, std::vector<NodePtr>& out) {
  Context& c = d.c;
  if (value->type->kind != Kind::Array) {
    out.push_back(make(Form::Print, unit(), {converted(integer(), value)}));
    return;
  }
  std::vector<NodePtr> shown;
  for (int k = 0; k < (elements > shownWhole ? 2 : 1); ++k) {
    std::vector<NodePtr> kids = ranges(c, value->type);
    NodePtr element = converted(integer(), at(value, kids));
    if (elements > shownWhole) element = operate("*", element, weight(c, kids, 23));
    kids.push_back(element);
    shown.push_back(elements > shownWhole ? make(Form::Reduce, integer(), kids, "sum")
                                          : make(Form::Builder, arrayOf(integer(), value->type->dims), kids));
  }
  out.push_back(make(Form::Print, unit(), shown));
}

/// A weighted sum of the function's result, which depends on the array by itself too.
std::shared_ptr<Function> lossOf(Context& c, const Function& f, const Parameter& by) {
  auto out = std::make_shared<Function>();
  out->name = c.freshName("loss");
  out->sizes = f.sizes;
  out->parameters = f.parameters;
  Type element = by.type->parts[0];
  out->result = element;
  std::vector<NodePtr> arguments;
  for (const Parameter& p : f.parameters) arguments.push_back(nameOf(p.name, p.type));
  NodePtr r = nameOf(c.freshName("r"), f.result);
  NodePtr sum = r;
  if (f.result->kind == Kind::Array) {
    std::vector<NodePtr> kids = ranges(c, f.result);
    kids.push_back(operate("*", at(r, kids), converted(element, weight(c, kids, 3))));
    sum = make(Form::Reduce, element, kids, "sum");
  }
  NodePtr alone = make(Form::Builtin, element, {nameOf(by.name, by.type)}, "sum");
  out->body = block({let(r->name, make(Form::Call, f.result, std::move(arguments), f.name))},
                    operate("+", sum, alone));
  return out;
}

/// Prints a gradient by the k-th argument of a call.
void differentiated(Domain& d, const Function& loss, const std::vector<NodePtr>& arguments, size_t k,
                    std::vector<NodePtr>& out, int64_t elements) {
  Context& c = d.c;
  Type type = arguments[k]->type;
  std::string q = c.freshName("q");
  std::vector<NodePtr> given;
  for (const NodePtr& a : arguments) given.push_back(clone(a));
  given[k] = nameOf(q, type);
  NodePtr lambda = make(Form::Lambda, functionOf({type}, d.element),
                        {make(Form::Call, d.element, std::move(given), loss.name)});
  lambda->names = {q};
  if (c.chance(20)) {
    NodePtr forward =
        make(Form::Gradient, d.element, {lambda, clone(arguments[k]), argument(d, type)}, "jvp");
    printed(d, forward, 1, out);
    return;
  }
  NodePtr g = nameOf(c.freshName("g"), type);
  out.push_back(let(g->name, make(Form::Gradient, type, {lambda, clone(arguments[k])}, "grad")));
  printed(d, g, elements, out);
}

/// How the statements run after the lets: known, exact and not too long.
Expected tried(const Domain& d, const std::vector<NodePtr>& statements) {
  Program probe;
  probe.functions = d.c.program.functions;
  std::vector<NodePtr> all = d.lets;
  all.insert(all.end(), statements.begin(), statements.end());
  probe.script = block(std::move(all));
  Expected out = evaluate(probe, true);
  double exact = d.element->kind == Kind::F32 ? exactBelow32 : exactBelow64;
  out.known = out.known && !out.panic && out.largest < exact;
  return out;
}

/// One call with its prints, and gradients.
std::vector<NodePtr> called(Domain& d, const Function& f, const Function* loss, size_t by,
                            const std::vector<Dim>& dims, size_t call) {
  Context& c = d.c;
  std::vector<std::string> sizes;
  for (const Dim& dim : dims) sizes.push_back(given(d, dim, call));
  auto elements = [&](const Type& type) {
    int64_t out = 1;
    for (const std::string& size : type->dims)
      out *= isNumeral(size) ? std::stoll(size) : std::stoll(size.substr(1));
    return out;
  };
  std::vector<NodePtr> arguments;
  for (const Parameter& p : f.parameters) {
    Type type = replacedBy(p.type, dims, sizes);
    if (type->kind == Kind::Array)
      arguments.push_back(argument(d, type));
    else
      arguments.push_back(type->kind == Kind::Bool ? literal(type, c.chance(60), 0, false)
                                                   : number(c.between(1, c.chance(70) ? 5 : 40)));
  }
  Type result = replacedBy(f.result, dims, sizes);
  NodePtr r = nameOf(c.freshName("r"), result);
  std::vector<NodePtr> copies;
  for (const NodePtr& a : arguments) copies.push_back(clone(a));
  std::vector<NodePtr> out = {let(r->name, make(Form::Call, result, std::move(copies), f.name))};
  printed(d, r, elements(result), out);
  if (loss) differentiated(d, *loss, arguments, by, out, elements(arguments[by]->type));
  return out;
}

/// `fn hidden(x, n)`: x, after a recursion that the compiler does not look through.
void declareHidden(Program& program) {
  auto f = std::make_shared<Function>();
  f->name = "hidden";
  f->recursive = true;
  f->parameters = {{"x", integer()}, {"n", integer()}};
  f->result = integer();
  NodePtr again = make(Form::Call, integer(), {named("x"), operate("-", named("n"), number(1))}, "hidden");
  f->body = block({}, branch(compare("<=", named("n"), number(0)), named("x"), again));
  program.functions.push_back(f);
}

/// One function with its calls; what cannot be known exactly is left out again. Steps of the evaluator.
uint64_t attempt(Domain& d, std::vector<NodePtr>& calls) {
  Context& c = d.c;
  auto& functions = c.program.functions;
  const size_t before = functions.size(), lets = d.lets.size(), data = d.data.size(), sizes = d.sizes.size();
  size_t roll = c.below(100);
  Shape shape = roll < 55   ? Shape::Any
                : roll < 80 ? Shape::Product
                : roll < 92 ? Shape::Convolution
                            : Shape::Attention;
  if (shape == Shape::Attention && d.element->kind != Kind::F64) shape = Shape::Product;
  std::vector<Dim> dims = dimsFor(c, shape);
  bool graded = isFloat(d.element->kind) && c.chance(60);
  std::shared_ptr<Function> f = domainFunction(c, d.element, dims, shape, graded), loss;
  functions.push_back(f);
  size_t by = 0;
  if (graded) {
    while (by + 1 < f->parameters.size() && f->parameters[by + 1].type->kind == Kind::Array && c.chance(50))
      ++by;
    functions.push_back(loss = lossOf(c, *f, f->parameters[by]));
  }
  bool named = std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return !isNumeral(dim.name); });
  std::vector<NodePtr> statements;
  for (size_t call = 0; call < (named ? 2U : 1U); ++call)
    for (NodePtr& n : called(d, *f, loss.get(), by, dims, call)) statements.push_back(std::move(n));
  Expected expected = tried(d, statements);
  if (expected.known) {
    calls.insert(calls.end(), statements.begin(), statements.end());
    return expected.steps;
  }
  functions.resize(before);
  d.lets.resize(lets);
  d.data.resize(data);
  d.sizes.resize(sizes);
  return 0;
}

} // namespace

Program generateDomains(Random& random) {
  Program program;
  Context c{random, program};
  program.strict = c.chance(25);
  Domain d{c, scalar(c.chance(65) ? Kind::F64 : c.chance(50) ? Kind::F32 : Kind::I64)};
  declareHidden(program);
  declareHelpers(c, d.element);
  std::vector<NodePtr> calls;
  size_t functions = 6 + c.below(mostFunctions - 5), made = 0;
  uint64_t steps = 0;
  for (size_t k = 0; k < mostAttempts && made < functions && steps < mostSteps; ++k) {
    uint64_t spent = attempt(d, calls);
    made += spent > 0;
    steps += spent;
  }
  std::vector<NodePtr> script = d.lets;
  script.insert(script.end(), calls.begin(), calls.end());
  program.script = block(std::move(script));
  return program;
}

} // namespace melix::fuzz::programs
