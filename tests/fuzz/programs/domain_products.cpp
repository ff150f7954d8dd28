// Products of matrices and convolutions of programs about domains: as they are tiled, with triangles, bands
// and masks before and after, and with edges.
#include "fuzz/programs/domains.h"

namespace melix::fuzz::programs {

namespace {

/// An array whose element at (row, column) is read, in one of both orders.
struct Side {
  const Parameter* array;
  bool transposed;
};

std::vector<Side> sidesOf(const Site& s, const std::string& row, const std::string& column) {
  std::vector<Side> out;
  for (const Parameter& p : s.arrays) {
    if (p.type->dims == std::vector{row, column}) out.push_back({&p, false});
    if (p.type->dims == std::vector{column, row}) out.push_back({&p, true});
  }
  return out;
}

NodePtr backwards(const Axis& axis) {
  return operate("-", operate("-", sizeValue(axis.size), number(1)), named(axis.name));
}

NodePtr readOf(Site& s, const Axis& row, const Axis& column) {
  Context& c = s.c;
  const std::vector<Side> sides = sidesOf(s, row.size, column.size);
  if (sides.empty()) return constant(s.element, 1);
  const Side& side = c.pick(sides);
  NodePtr i = c.chance(8) ? backwards(row) : named(row.name);
  NodePtr k = c.chance(8) ? backwards(column) : named(column.name);
  if (side.transposed) std::swap(i, k);
  return make(Form::Index, s.element, {nameOf(side.array->name, side.array->type), i, k});
}

/// A factor: plain, scaled, moved, or zero where a condition does not hold.
NodePtr factorOf(Site& s, const Axis& row, const Axis& column) {
  Context& c = s.c;
  NodePtr read = readOf(s, row, column);
  switch (c.below(12)) {
  case 0: return operate("*", constant(s.element, 2), read);
  case 1: return make(Form::Unary, s.element, {read}, "-");
  case 2: return operate("+", read, constant(s.element, 1));
  case 3: {
    NodePtr test =
        below(c, named(row.name), operate("+", named(column.name), number(c.between(-1, 1))), c.chance(50));
    return guarded(c, test, read, constant(s.element, 0));
  }
  case 4: return guarded(c, condition(s, 1), read, constant(s.element, 0));
  case 5: return make(Form::Call, s.element, {condition(s, 1), read}, "kept");
  default: return read;
  }
}

NodePtr termOf(Site& s, const Axis& i, const Axis& j, const Axis& k) {
  Context& c = s.c;
  NodePtr a = factorOf(s, i, k), b = factorOf(s, k, j);
  switch (c.below(14)) {
  case 0: {
    NodePtr difference = operate("-", a, b);
    return operate("*", difference, clone(difference));
  }
  case 1: return make(Form::Builtin, s.element, {a, b}, c.chance(50) ? "max" : "min");
  case 2:
    return operate("*", operate("*", a, b), converted(s.element, operate("%", named(k.name), number(3))));
  case 3: return operate("*", b, a);
  default: return operate("*", a, b);
  }
}

/// The sum over k of one element, where a mask may stand before, in or after the product.
NodePtr sumOf(Site& s, const std::string& inner) {
  Context& c = s.c;
  const Axis i = s.axes[s.axes.size() - 2], j = s.axes.back();
  Nested inside(s);
  NodePtr head = c.chance(inner == i.size ? 80 : 40) ? partOf(s, inner) : wholeRange(s, inner);
  NodePtr value = termOf(s, i, j, s.axes.back());
  if (c.chance(30)) value = guarded(c, condition(s, 1), value, constant(s.element, 0));
  if (c.chance(10)) value = masked(s, value);
  std::vector<NodePtr> kids = {head};
  bool filters = c.chance(10);
  if (filters) kids.push_back(condition(s, 1));
  kids.push_back(value);
  NodePtr out = make(Form::Reduce, s.element, std::move(kids), "sum");
  out->flag = filters;
  return out;
}

NodePtr byLoops(Site& s, const std::vector<std::string>& dims, const std::string& inner,
                std::vector<NodePtr>& body) {
  Context& c = s.c;
  Type type = arrayOf(s.element, dims);
  std::string out = c.freshName("v");
  body.push_back(let(out, make(Form::Zeros, type, {}, "zeros"), true));
  Nested inside(s);
  std::vector<std::string> sizes = {dims[0], dims[1], inner};
  std::vector<size_t> order = {0, 1, 2};
  if (c.chance(40)) std::swap(order[1], order[2]);
  if (c.chance(20)) std::swap(order[0], order[1]);
  std::vector<NodePtr> heads;
  std::vector<Axis> axes(3);
  for (size_t k : order) {
    heads.push_back(c.chance(35) ? partOf(s, sizes[k]) : wholeRange(s, sizes[k]));
    axes[k] = s.axes.back();
  }
  NodePtr place = make(Form::Index, s.element, {nameOf(out, type), named(axes[0].name), named(axes[1].name)});
  std::vector<NodePtr> statements = {assign("+=", place, termOf(s, axes[0], axes[1], axes[2]))};
  if (c.chance(25))
    statements.insert(statements.begin(), when(condition(s, 1), {make(Form::Continue, unit())}));
  for (size_t k = 3; k-- > 0;)
    statements = {make(Form::For, unit(), {heads[k], block(std::move(statements))})};
  body.push_back(statements[0]);
  return nameOf(out, type);
}

} // namespace

NodePtr productOf(Site& s, const std::vector<std::string>& dims, const std::string& inner,
                  std::vector<NodePtr>& body) {
  Context& c = s.c;
  if (c.chance(25)) return byLoops(s, dims, inner, body);
  Nested inside(s);
  std::vector<NodePtr> kids = {wholeRange(s, dims[0]), wholeRange(s, dims[1])};
  NodePtr sum = sumOf(s, inner);
  if (c.chance(25)) sum = masked(s, sum);
  kids.push_back(sum);
  return make(Form::Builder, arrayOf(s.element, dims), std::move(kids));
}

NodePtr maskedCopy(Site& s, const Parameter& matrix) {
  Context& c = s.c;
  Nested inside(s);
  std::vector<NodePtr> kids = {wholeRange(s, matrix.type->dims[0]), wholeRange(s, matrix.type->dims[1])};
  NodePtr i = named(kids[0]->name), j = named(kids[1]->name);
  NodePtr read = make(Form::Index, s.element, {nameOf(matrix.name, matrix.type), i, j});
  NodePtr test;
  switch (c.below(4)) {
  case 0: test = nearby(c, i, j, c.between(0, 4), c.chance(70)); break;
  case 1: test = condition(s, 1); break;
  default: test = below(c, i, operate("+", j, number(c.between(-1, 1))), c.chance(50));
  }
  kids.push_back(guarded(c, test, read, constant(s.element, 0)));
  return make(Form::Builder, matrix.type, std::move(kids));
}

NodePtr attentionOf(Site& s, std::vector<NodePtr>& body) {
  Context& c = s.c;
  const Parameter q = s.arrays[0], k = s.arrays[1], v = s.arrays[2];
  const std::string rows = q.type->dims[0], columns = k.type->dims[0], width = v.type->dims[1];
  auto at = [&](const Parameter& of, const NodePtr& i, const NodePtr& j) {
    return make(Form::Index, s.element, {nameOf(of.name, of.type), named(i->name), named(j->name)});
  };
  Parameter scores{c.freshName("t"), arrayOf(s.element, {rows, columns})},
      best{c.freshName("t"), arrayOf(s.element, {rows})};
  {
    Nested inside(s);
    NodePtr t = wholeRange(s, rows), u = wholeRange(s, columns), test;
    test = c.chance(70) ? below(c, named(t->name), named(u->name), false) : condition(s, 1);
    NodePtr e = wholeRange(s, q.type->dims[1]);
    NodePtr sum = make(Form::Reduce, s.element, {e, operate("*", at(q, t, e), at(k, u, e))}, "sum");
    NodePtr large = operate("*", sum, constant(s.element, 1000)); // exp of a difference is 0 or 1
    NodePtr none = literal(s.element, 0, c.chance(60) ? -1.0 / 0.0 : -1e30);
    NodePtr value = c.chance(75) ? guarded(c, test, large, none)
                                 : operate("+", large, guarded(c, test, constant(s.element, 0), none));
    body.push_back(let(scores.name, make(Form::Builder, scores.type, {t, u, value})));
  }
  {
    Nested inside(s);
    NodePtr t = wholeRange(s, rows), u = wholeRange(s, columns);
    NodePtr most = make(Form::Reduce, s.element, {u, at(scores, t, u)}, "max");
    body.push_back(let(best.name, make(Form::Builder, best.type, {t, most})));
  }
  Nested inside(s);
  NodePtr t = wholeRange(s, rows), e = wholeRange(s, width), u = wholeRange(s, columns);
  NodePtr greatest = make(Form::Index, s.element, {nameOf(best.name, best.type), named(t->name)});
  NodePtr p = make(Form::Builtin, s.element, {operate("-", at(scores, t, u), greatest)}, "exp");
  Type type = arrayOf(s.element, {rows, width});
  if (c.chance(60)) { // weights that are an array of their own
    Parameter weights{c.freshName("t"), scores.type};
    NodePtr w = make(Form::Builder, scores.type, {clone(t), clone(u), p});
    body.push_back(let(weights.name, w));
    p = at(weights, t, u);
  }
  NodePtr sum = make(Form::Reduce, s.element, {u, operate("*", p, at(v, u, e))}, "sum");
  return make(Form::Builder, type, {t, e, sum});
}

NodePtr convolutionOf(Site& s, const std::vector<std::string>& dims) {
  Context& c = s.c;
  Nested inside(s);
  const Parameter image = s.arrays[0], kernel = s.arrays[1];
  std::vector<NodePtr> kids;
  for (const std::string& dim : dims) kids.push_back(wholeRange(s, dim));
  std::vector<Axis> outer = s.axes;
  std::vector<NodePtr> heads, weights = {nameOf(kernel.name, kernel.type), named(outer[0].name)}, positions;
  for (size_t k = 1; k < kernel.type->dims.size(); ++k) {
    heads.push_back(wholeRange(s, kernel.type->dims[k]));
    weights.push_back(named(s.axes.back().name));
  }
  positions.push_back(clone(weights[2]));
  int64_t stride = c.between(1, 3), dilation = c.chance(70) ? 1 : 2, margin = c.between(0, 2);
  for (size_t k = 1; k < outer.size(); ++k) {
    NodePtr o = named(outer[k].name), a = clone(weights[k + 2]);
    if (stride > 1) o = operate("*", o, number(stride));
    if (dilation > 1) a = operate("*", number(dilation), a);
    NodePtr at = operate("+", o, a);
    positions.push_back(margin ? operate("-", at, number(margin)) : at);
  }
  NodePtr read = readAt(s, image, std::move(positions));
  NodePtr value = operate("*", make(Form::Index, s.element, std::move(weights)), read);
  if (c.chance(15)) value = masked(s, value);
  heads.push_back(value);
  kids.push_back(make(Form::Reduce, s.element, std::move(heads), "sum"));
  return make(Form::Builder, arrayOf(s.element, dims), std::move(kids));
}

} // namespace melix::fuzz::programs
