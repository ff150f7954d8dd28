// Arrays of programs about domains: comprehensions, loops that add, recurrences, scans, padded copies.
#include "fuzz/programs/domains.h"

namespace melix::fuzz::programs {

namespace {

NodePtr zero(const Site& s) { return constant(s.element, 0); }

/// `if not … { continue }` before the rest, or the rest under the condition, if there is one.
std::vector<NodePtr> under(Context& c, const NodePtr& test, std::vector<NodePtr> statements) {
  if (!test) return statements;
  if (c.chance(50)) return {when(test, std::move(statements))};
  statements.insert(statements.begin(), when(test, {make(Form::Continue, unit())}));
  return statements;
}

/// Adds a term to the place, or keeps the larger one.
NodePtr update(Site& s, const NodePtr& at, NodePtr value) {
  Context& c = s.c;
  switch (c.below(8)) {
  case 0:
    return assign("=", at, make(Form::Builtin, s.element, {clone(at), value}, c.chance(50) ? "max" : "min"));
  case 1: return assign("=", at, operate("+", value, clone(at)));
  case 2: return assign("-=", at, value);
  case 3: {
    std::string v = s.c.freshName("v");
    NodePtr known = nameOf(v, s.element);
    return block({let(v, value), when(make(Form::Binary, truth(), {clone(known), clone(at)}, ">"),
                                      {assign("=", clone(at), clone(known))})});
  }
  default: return assign("+=", at, value);
  }
}

/// A loop over a further axis around the statements that `make` gives.
NodePtr loopOver(Site& s, const std::string& size, const std::function<std::vector<NodePtr>()>& inner) {
  NodePtr head = partOf(s, size), test = s.c.chance(55) ? condition(s) : nullptr;
  return make(Form::For, unit(), {head, block(under(s.c, test, inner()))});
}

/// `var j = 0`, `while j < size { … }`.
std::vector<NodePtr> whileOver(Site& s, const std::string& size,
                               const std::function<std::vector<NodePtr>()>& inner) {
  std::string j = s.c.freshName("j");
  s.axes.push_back({j, size});
  s.volume *= s.c.guess(size);
  NodePtr next = assign("+=", named(j), number(1));
  std::vector<NodePtr> body = {when(condition(s), {next, make(Form::Continue, unit())})};
  if (s.c.chance(50)) body.clear();
  for (NodePtr& statement : inner()) body.push_back(std::move(statement));
  body.push_back(clone(next));
  return {let(j, number(0), true),
          make(Form::While, unit(), {compare("<", named(j), sizeValue(size)), block(std::move(body))})};
}

/// `{ var a = 0; for … { a += … }; a }`
NodePtr accumulated(Site& s) {
  Context& c = s.c;
  Nested inside(s);
  std::string a = c.freshName("a");
  NodePtr sum = nameOf(a, s.element);
  std::vector<NodePtr> statements = {let(a, zero(s), true)};
  auto add = [&] { return std::vector<NodePtr>{update(s, clone(sum), term(s))}; };
  const std::string size = c.pick(s.sizes), other = c.pick(s.sizes);
  if (!affords(s, size)) return term(s);
  if (c.chance(15)) {
    for (NodePtr& n : whileOver(s, size, add)) statements.push_back(std::move(n));
  } else {
    statements.push_back(loopOver(s, size, [&]() -> std::vector<NodePtr> {
      if (affords(s, other) && c.chance(30)) return {loopOver(s, other, add)};
      return add();
    }));
  }
  return block(std::move(statements), clone(sum));
}

/// A row made inside of an element, and a reduction of it.
NodePtr ofRow(Site& s) {
  Context& c = s.c;
  const std::string size = c.pick(s.sizes);
  if (!affords(s, size)) return term(s);
  std::string row = c.freshName("t");
  Type type = arrayOf(s.element, {size});
  NodePtr made;
  {
    Nested inside(s);
    NodePtr head = wholeRange(s, size);
    made = make(Form::Builder, type, {head, term(s)});
  }
  Nested inside(s);
  s.arrays.push_back({row, type});
  NodePtr value = c.chance(20) ? make(Form::Builtin, s.element, {nameOf(row, type)}, "sum") : reductionOf(s);
  return block({let(row, made)}, value);
}

NodePtr element(Site& s) {
  size_t roll = s.c.below(100);
  if (roll < 28) return term(s);
  if (roll < 62) return reductionOf(s);
  if (roll < 74) return accumulated(s);
  if (roll < 80) return ofRow(s);
  if (roll < 90) return masked(s, reductionOf(s));
  return operate(s.c.chance(50) ? "+" : "*", reductionOf(s), term(s));
}

NodePtr comprehension(Site& s, const std::vector<std::string>& dims, bool expected) {
  Nested inside(s);
  std::vector<NodePtr> kids;
  for (const std::string& dim : dims) kids.push_back(wholeRange(s, dim));
  if (expected && s.c.chance(40))
    for (const NodePtr& head : kids) head->integer = 1;
  kids.push_back(element(s));
  return make(Form::Builder, arrayOf(s.element, dims), std::move(kids));
}

/// A new variable of zeros, which is in `body`.
NodePtr variable(Site& s, const std::vector<std::string>& dims, std::vector<NodePtr>& body) {
  std::string out = s.c.freshName("v");
  Type type = arrayOf(s.element, dims);
  body.push_back(let(out, make(Form::Zeros, type, {}, "zeros"), true));
  return nameOf(out, type);
}

/// Where the loop adds: at its own indices, or at an index of them that may leave the array.
std::vector<NodePtr> added(Site& s, const NodePtr& out, std::vector<NodePtr> at) {
  Context& c = s.c;
  NodePtr test;
  if (c.chance(25)) {
    size_t k = c.below(at.size());
    at[k] = affine(s);
    test = inRange(c, at[k], sizeValue(out->type->dims[k]));
  }
  at.insert(at.begin(), clone(out));
  NodePtr place = make(Form::Index, s.element, std::move(at));
  NodePtr statement = update(s, place, term(s));
  if (!test) return {statement};
  return {when(test, {statement})};
}

/// Loops over the result's axes and up to two more, in any order, around one statement that adds.
NodePtr loops(Site& s, const std::vector<std::string>& dims, std::vector<NodePtr>& body) {
  Context& c = s.c;
  NodePtr out = variable(s, dims, body);
  Nested inside(s);
  std::vector<std::string> sizes = dims;
  double volume = s.volume;
  for (const std::string& dim : dims) volume *= c.guess(dim);
  for (int k = 0; k < 2; ++k) {
    const std::string more = c.pick(s.sizes);
    if (volume * c.guess(more) > s.most || c.chance(30)) continue;
    volume *= c.guess(more);
    sizes.push_back(more);
  }
  std::vector<size_t> order;
  for (size_t k = 0; k < sizes.size(); ++k)
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(c.below(order.size() + 1)), k);
  std::vector<NodePtr> at(dims.size());
  std::function<std::vector<NodePtr>(size_t)> nest = [&](size_t depth) -> std::vector<NodePtr> {
    if (depth == order.size()) return added(s, out, at);
    return {loopOver(s, sizes[order[depth]], [&] {
      if (order[depth] < dims.size()) at[order[depth]] = named(s.axes.back().name);
      return nest(depth + 1);
    })};
  };
  for (NodePtr& statement : nest(0)) body.push_back(std::move(statement));
  return out;
}

/// Each element from the one before it, forwards or backwards.
NodePtr recurrence(Site& s, const std::string& dim, std::vector<NodePtr>& body) {
  Context& c = s.c;
  NodePtr out = variable(s, {dim}, body);
  Nested inside(s);
  std::string k = c.freshName("i"), i = c.freshName("i");
  s.axes.push_back({i, dim});
  s.volume *= c.guess(dim);
  bool forward = c.chance(60);
  NodePtr at = forward ? operate("+", named(k), number(1))
                       : operate("-", operate("-", sizeValue(dim), named(k)), number(2));
  NodePtr other = operate(forward ? "-" : "+", named(i), number(1));
  NodePtr last = make(Form::Index, s.element, {clone(out), other});
  NodePtr next = operate("+", last, term(s));
  if (c.chance(50)) next = guarded(c, condition(s), next, c.chance(50) ? zero(s) : clone(last));
  if (c.chance(15)) next = make(Form::Builtin, s.element, {last, term(s)}, "max");
  NodePtr place = make(Form::Index, s.element, {clone(out), named(i)});
  NodePtr head = make(Form::Range, unit(), {number(0), operate("-", sizeValue(dim), number(1))}, k);
  body.push_back(make(Form::For, unit(), {head, block({let(i, at), assign("=", place, next)})}));
  return out;
}

NodePtr scanned(Site& s, const std::string& dim) {
  Type type = arrayOf(s.element, {dim});
  NodePtr of = comprehension(s, {dim}, false);
  if (s.c.chance(50)) return make(Form::Builtin, type, {of}, "cumsum");
  std::string a = s.c.freshName("a"), b = s.c.freshName("b");
  NodePtr x = nameOf(a, s.element), y = nameOf(b, s.element);
  NodePtr both = s.c.chance(60) ? operate("+", x, y) : make(Form::Builtin, s.element, {x, y}, "max");
  NodePtr lambda = make(Form::Lambda, functionOf({s.element, s.element}, s.element), {both});
  lambda->names = {a, b};
  return make(Form::Builtin, type, {lambda, zero(s), of}, "scan");
}

/// A window over a copy with margins, whose reads are in range for what its size is.
NodePtr overCopy(Site& s, const std::string& dim, std::vector<NodePtr>& body) {
  Context& c = s.c;
  const std::string width = c.pick(s.sizes);
  std::vector<const Parameter*> vectors;
  for (const Parameter& p : s.arrays)
    if (p.type->dims == std::vector<std::string>{dim}) vectors.push_back(&p);
  if (vectors.empty() || s.volume * c.guess(dim) * c.guess(width) > s.most) return nullptr;
  const Parameter from = *c.pick(vectors);
  std::string i = c.freshName("i"), pad = c.freshName("t");
  NodePtr total = operate("-", operate("+", sizeValue(dim), sizeValue(width)), number(1));
  NodePtr at = operate("-", named(i), operate("/", sizeValue(width), number(2)));
  NodePtr head = make(Form::Range, unit(), {number(0), total}, i);
  Type type = arrayOf(s.element, {dim + " + " + width + " - 1"});
  body.push_back(let(pad, make(Form::Builder, type, {head, readAt(s, from, {at})})));
  Nested inside(s);
  NodePtr outer = wholeRange(s, dim), inner = wholeRange(s, width);
  NodePtr o = named(outer->name), k = named(inner->name);
  NodePtr read = make(Form::Index, s.element, {nameOf(pad, type), operate("+", o, k)});
  NodePtr sum = make(Form::Reduce, s.element, {inner, operate("*", read, term(s))}, "sum");
  return make(Form::Builder, arrayOf(s.element, {dim}), {outer, sum});
}

/// Arrays of these sizes combined as a whole.
NodePtr elementwise(Site& s, const std::vector<std::string>& dims) {
  Context& c = s.c;
  std::vector<Parameter> fitting;
  for (const Parameter& p : s.arrays)
    if (p.type->dims == dims) fitting.push_back(p);
  if (fitting.empty()) return nullptr;
  auto one = [&] {
    const Parameter& p = c.pick(fitting);
    return nameOf(p.name, p.type);
  };
  NodePtr a = one();
  if (c.chance(40)) a = make(Form::Binary, a->type, {constant(s.element, c.between(-2, 3)), a}, "*");
  return operate(c.chance(50) ? "*" : c.chance(50) ? "+" : "-", a, one());
}

} // namespace

NodePtr arrayValue(Site& s, const std::vector<std::string>& dims, std::vector<NodePtr>& body) {
  if (dims.empty()) return s.c.chance(60) ? reductionOf(s) : accumulated(s);
  size_t roll = s.c.below(100);
  NodePtr out;
  if (roll < 24) return loops(s, dims, body);
  if (roll < 30 && dims.size() == 1) return recurrence(s, dims[0], body);
  if (roll < 35 && dims.size() == 1) return scanned(s, dims[0]);
  if (roll < 41 && dims.size() == 1) out = overCopy(s, dims[0], body);
  if (roll >= 41 && roll < 46) out = elementwise(s, dims);
  return out ? out : comprehension(s, dims, true);
}

namespace {

NodePtr returned(NodePtr value) { return make(Form::Return, unit(), {std::move(value)}); }

std::shared_ptr<Function> declared(const std::string& name, std::vector<Parameter> parameters, Type result,
                                   NodePtr body) {
  auto f = std::make_shared<Function>();
  f->name = name;
  f->parameters = std::move(parameters);
  f->result = std::move(result);
  f->body = std::move(body);
  return f;
}

/// `value` where all conditions hold, else `other`: by early returns, or in one condition.
NodePtr helperBody(Context& c, const std::vector<NodePtr>& tests, const NodePtr& value,
                   const NodePtr& other) {
  std::vector<NodePtr> statements;
  if (c.chance(50)) {
    for (const NodePtr& test : tests) statements.push_back(when(opposite(c, test), {returned(clone(other))}));
    return block(std::move(statements), value);
  }
  NodePtr all = tests[0];
  for (size_t k = 1; k < tests.size(); ++k) all = connected(c, true, all, tests[k]);
  if (c.chance(40)) {
    statements.push_back(when(all, {returned(value)}));
    return block(std::move(statements), other);
  }
  return block({}, guarded(c, all, value, other));
}

} // namespace

void declareHelpers(Context& c, const Type& element) {
  NodePtr none = constant(element, 0), p = named("p"), q = named("q"), rows = named("N"),
          columns = named("M");
  Type vector = arrayOf(element, {"N"}), matrix = arrayOf(element, {"N", "M"});
  NodePtr x = nameOf("x", vector), m = nameOf("x", matrix);
  std::vector<Parameter> one = {{"x", vector}, {"p", integer()}};
  std::vector<Parameter> two = {{"x", matrix}, {"p", integer()}, {"q", integer()}};
  auto add = [&](std::shared_ptr<Function> f) { c.program.functions.push_back(std::move(f)); };
  add(declared("zeroAt", one, element,
               helperBody(c, {below(c, p, number(0), false), below(c, p, rows)},
                          make(Form::Index, element, {x, p}), none)));
  add(declared("zeroAt2", two, element,
               helperBody(c, {inRange(c, p, rows), inRange(c, q, columns)},
                          make(Form::Index, element, {m, p, q}), none)));
  add(declared("edgeAt", one, element, block({}, make(Form::Index, element, {x, clamped(c, p, rows)}))));
  add(declared("kept", {{"c", truth()}, {"v", element}}, element,
               helperBody(c, {nameOf("c", truth())}, nameOf("v", element), none)));
  add(declared("between", {{"a", integer()}, {"b", integer()}, {"n", integer()}}, truth(),
               helperBody(c,
                          {below(c, named("b"), named("a"), false),
                           below(c, named("b"), operate("+", named("a"), named("n")))},
                          literal(truth(), 1, 0, false), literal(truth(), 0, 0, false))));
}

} // namespace melix::fuzz::programs
