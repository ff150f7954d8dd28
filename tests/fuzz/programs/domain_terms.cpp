// Indices, conditions, reads and terms of programs about domains.
#include "fuzz/programs/domains.h"

#include <algorithm>

namespace melix::fuzz::programs {

namespace {

NodePtr axisName(Site& s) { return s.axes.empty() ? number(0) : named(s.c.pick(s.axes).name); }

/// Another axis than `i`, or where there is none a number.
NodePtr otherAxis(Site& s, const NodePtr& i) {
  std::vector<std::string> others;
  for (const Axis& axis : s.axes)
    if (axis.name != i->name) others.push_back(axis.name);
  return others.empty() ? number(s.c.between(0, 9)) : named(s.c.pick(others));
}

NodePtr sizeOf(Site& s) { return sizeValue(s.c.pick(s.sizes)); }

int64_t divisor(Context& c) {
  static const std::vector<int64_t> near = {2,  3,  4,  5,  7,  8,  9,  10, 12, 15,
                                            16, 17, 24, 31, 32, 33, 48, 63, 64, 65};
  return c.chance(70) ? c.pick(near) : c.between(2, 65);
}

NodePtr divisorOf(Site& s) {
  if (!s.numbers.empty() && s.c.chance(20)) return named(s.c.pick(s.numbers));
  if (s.c.chance(15)) return sizeOf(s);
  return number(divisor(s.c));
}

NodePtr affineTerm(Site& s) {
  Context& c = s.c;
  NodePtr i = axisName(s);
  switch (c.below(9)) {
  case 0: return operate("*", number(c.between(2, 3)), i);
  case 1: return operate("*", i, number(c.between(-2, 4)));
  case 2: return operate("/", i, divisorOf(s));
  case 3: return operate("%", i, divisorOf(s));
  case 4: return s.numbers.empty() ? i : operate("*", i, named(c.pick(s.numbers)));
  default: return i;
  }
}

NodePtr offset(Site& s) {
  if (!s.numbers.empty() && s.c.chance(25)) return named(s.c.pick(s.numbers));
  return number(s.c.between(1, 4));
}

} // namespace

NodePtr affine(Site& s) {
  Context& c = s.c;
  NodePtr out = affineTerm(s);
  for (size_t k = 1; k < s.axes.size() && c.chance(45); ++k)
    out = operate(c.chance(65) ? "+" : "-", out, affineTerm(s));
  if (c.chance(45)) out = operate(c.chance(50) ? "+" : "-", out, offset(s));
  if (c.chance(12)) out = operate("-", operate("-", sizeOf(s), number(1)), out);
  if (c.chance(6)) out = make(Form::Unary, integer(), {out}, "-");
  if (c.chance(6)) out = operate("*", operate("/", out, number(c.between(2, 9))), number(c.between(2, 9)));
  if (c.chance(8)) out = operate(c.chance(50) ? "/" : "%", out, divisorOf(s));
  return out;
}

namespace {

/// A test of an element that is certainly there.
NodePtr dataTest(Site& s) {
  for (int tries = 0; tries < 3 && !s.arrays.empty(); ++tries) {
    const Parameter& array = s.c.pick(s.arrays);
    std::vector<NodePtr> at = {nameOf(array.name, array.type)};
    for (const std::string& dim : array.type->dims)
      for (const Axis& axis : s.axes)
        if (axis.size == dim) {
          at.push_back(named(axis.name));
          break;
        }
    if (at.size() != array.type->dims.size() + 1) continue;
    NodePtr element = make(Form::Index, s.element, at);
    return compare(s.c.chance(50) ? ">" : "<=", element, constant(s.element, s.c.between(-1, 1)));
  }
  return nullptr;
}

NodePtr helperTest(Site& s) {
  NodePtr call = make(Form::Call, truth(), {affine(s), affine(s), sizeOf(s)}, "between");
  return s.c.chance(70) ? call : opposite(s.c, call);
}

NodePtr simpleCondition(Site& s) {
  Context& c = s.c;
  bool holds = c.chance(60);
  NodePtr i = axisName(s), j = otherAxis(s, i);
  switch (c.below(14)) {
  case 0:
  case 1:
  case 2: return below(c, i, operate("+", j, number(c.between(-1, 1))), holds);
  case 3:
  case 4: return below(c, affine(s), affine(s), holds);
  case 5: return nearby(c, i, j, c.between(0, 5), holds);
  case 6: return inRange(c, affine(s), sizeOf(s), holds);
  case 7: return equals(c, i, j, holds);
  case 8: return equals(c, affine(s), c.chance(50) ? number(c.between(0, 3)) : sizeOf(s), holds);
  case 9: return equals(c, operate("%", operate("+", i, j), divisorOf(s)), number(c.between(0, 1)), holds);
  case 10: {
    int64_t d = divisor(c);
    return equals(c, operate("/", i, number(d)), operate("/", j, number(d)), holds);
  }
  case 11:
    if (NodePtr test = dataTest(s)) return test;
    return below(c, i, number(c.between(0, 8)), holds);
  case 12:
    if (!s.flags.empty()) return nameOf(c.pick(s.flags), truth());
    return below(c, i, operate("/", sizeOf(s), number(2)), holds);
  default: return helperTest(s);
  }
}

} // namespace

NodePtr condition(Site& s, int depth) {
  Context& c = s.c;
  if (depth <= 0 || c.chance(50)) return simpleCondition(s);
  NodePtr a = condition(s, depth - 1), b = condition(s, depth - 1);
  switch (c.below(6)) {
  case 0: return opposite(c, a);
  case 1: return branch(a, b, simpleCondition(s));
  case 2: return compare("!=", a, b);
  case 3: return connected(c, false, a, b);
  default: return connected(c, true, a, b);
  }
}

namespace {

/// A position in the axis for certain where it has some element; `condition` grows by what must hold.
NodePtr position(Site& s, NodePtr at, const std::string& dim, NodePtr& inside) {
  Context& c = s.c;
  NodePtr size = sizeValue(dim);
  switch (c.below(10)) {
  case 0:
  case 1:
  case 2: return clamped(c, at, size);
  case 3: return operate("%", at, size);
  default: break;
  }
  NodePtr test = inRange(c, at, size);
  inside = inside ? connected(c, true, inside, test) : test;
  return at;
}

/// The axis in scope with that size, or null.
NodePtr direct(Site& s, const std::string& dim) {
  std::vector<std::string> fitting;
  for (const Axis& axis : s.axes)
    if (axis.size == dim) fitting.push_back(axis.name);
  if (fitting.empty()) return nullptr;
  NodePtr i = named(s.c.pick(fitting));
  if (s.c.chance(15)) return operate("-", operate("-", sizeValue(dim), number(1)), i);
  return i;
}

bool isAxisOf(const Site& s, const Node& at, const std::string& dim) {
  return at.form == Form::Name && std::any_of(s.axes.begin(), s.axes.end(), [&](const Axis& axis) {
           return axis.name == at.name && axis.size == dim;
         });
}

NodePtr helperRead(Site& s, const Parameter& array, std::vector<NodePtr> positions) {
  static constexpr const char* names[] = {"", "zeroAt", "zeroAt2"};
  positions.insert(positions.begin(), nameOf(array.name, array.type));
  std::string name = names[array.type->dims.size()];
  if (name == "zeroAt" && s.c.chance(30)) name = "edgeAt";
  return make(Form::Call, s.element, std::move(positions), name);
}

} // namespace

NodePtr readAt(Site& s, const Parameter& array, std::vector<NodePtr> positions) {
  Context& c = s.c;
  if (c.chance(20) && positions.size() <= 2) return helperRead(s, array, std::move(positions));
  NodePtr inside;
  std::vector<NodePtr> kids = {nameOf(array.name, array.type)};
  for (size_t k = 0; k < positions.size(); ++k) {
    const std::string& dim = array.type->dims[k];
    kids.push_back(isAxisOf(s, *positions[k], dim) ? positions[k] : position(s, positions[k], dim, inside));
  }
  NodePtr read = make(Form::Index, s.element, std::move(kids));
  return inside ? guarded(c, inside, read, constant(s.element, c.chance(85) ? 0 : 1)) : read;
}

namespace {

/// `stride · i + dilation · k - margin` of two axes.
NodePtr windowAt(Site& s) {
  Context& c = s.c;
  NodePtr i = axisName(s), k = otherAxis(s, i);
  if (c.chance(30)) i = operate("*", i, number(c.between(2, 4)));
  if (c.chance(30)) k = operate("*", number(c.between(2, 3)), k);
  NodePtr sum = operate(c.chance(85) ? "+" : "-", i, k);
  NodePtr margin = c.chance(50) ? number(c.between(0, 4)) : operate("/", sizeOf(s), number(2));
  return c.chance(80) ? operate("-", sum, margin) : sum;
}

NodePtr read(Site& s) {
  Context& c = s.c;
  const Parameter& array = c.pick(s.arrays);
  std::vector<NodePtr> positions;
  bool certain = true, isWindow = s.axes.size() > 1 && c.chance(25);
  for (const std::string& dim : array.type->dims) {
    NodePtr at = c.chance(65) ? direct(s, dim) : nullptr;
    if (isWindow && c.chance(80)) {
      certain = false;
      positions.push_back(windowAt(s));
      continue;
    }
    certain = certain && at;
    positions.push_back(at ? at : affine(s));
  }
  if (!certain) return readAt(s, array, std::move(positions));
  positions.insert(positions.begin(), nameOf(array.name, array.type));
  return make(Form::Index, s.element, std::move(positions));
}

/// `2 * v`, `-v`, `v + 1`, …
NodePtr shifted(Site& s, NodePtr v) {
  Context& c = s.c;
  switch (c.below(6)) {
  case 0: return operate("*", constant(s.element, 2), v);
  case 1: return make(Form::Unary, s.element, {v}, "-");
  case 2: return operate("+", v, constant(s.element, 1));
  case 3: return operate("-", constant(s.element, c.between(1, 3)), v);
  case 4: return operate("*", v, constant(s.element, -2));
  default: return operate("-", v, constant(s.element, 3));
  }
}

NodePtr factor(Site& s) {
  Context& c = s.c;
  size_t roll = c.below(100);
  if (s.arrays.empty() || roll < 12) {
    NodePtr small = operate("%", affine(s), number(c.between(2, 7)));
    return converted(s.element, c.chance(40) ? operate("-", small, number(2)) : small);
  }
  if (roll < 24) return guarded(s.c, condition(s, 1), read(s), constant(s.element, 0));
  if (roll < 44) return shifted(s, read(s));
  return read(s);
}

NodePtr product(Site& s) {
  NodePtr out = factor(s);
  size_t more = s.c.below(100);
  for (size_t k = 0; k < (more < 30 ? 0U : more < 88 ? 1U : 2U); ++k) {
    NodePtr other = factor(s);
    out = s.c.chance(50) ? operate("*", out, other) : operate("*", other, out);
  }
  return out;
}

/// Nothing below 0, after a mask that is as good as -inf.
NodePtr addedMask(Site& s, NodePtr value) {
  Context& c = s.c;
  double far = c.chance(50) ? -1e30 : -1.0 / 0.0;
  NodePtr mask = guarded(c, condition(s, 1), constant(s.element, 0), literal(s.element, 0, far));
  NodePtr sum = c.chance(50) ? operate("+", value, mask) : operate("+", mask, value);
  NodePtr zero = constant(s.element, 0);
  return c.chance(50) ? make(Form::Builtin, s.element, {zero, sum}, "max")
                      : make(Form::Builtin, s.element, {sum, zero}, "max");
}

} // namespace

NodePtr masked(Site& s, NodePtr value) {
  Context& c = s.c;
  NodePtr zero = constant(s.element, 0);
  switch (c.below(9)) {
  case 0: return operate("*", value, indicator(c, s.element, condition(s, 1)));
  case 1: return operate("*", indicator(c, s.element, condition(s, 1)), value);
  case 2:
    if (s.element->kind == Kind::F64) return addedMask(s, value);
    return guarded(c, condition(s), value, zero);
  case 3: { // the sign of a difference, without a condition
    NodePtr i = axisName(s), ahead = operate("-", i, otherAxis(s, i));
    return operate("*", value, converted(s.element, least(greatest(ahead, number(0)), number(1))));
  }
  case 4: return make(Form::Call, s.element, {condition(s, 1), value}, "kept");
  case 5: return guarded(c, condition(s), value, shifted(s, read(s)));
  default: return guarded(c, condition(s), value, zero);
  }
}

namespace {

/// Of large nests: products as they are tiled, with a mask before or after.
NodePtr simpleTerm(Site& s) {
  Context& c = s.c;
  NodePtr a = c.chance(15) ? shifted(s, read(s)) : read(s), b = read(s);
  if (c.chance(25)) a = guarded(c, simpleCondition(s), a, constant(s.element, 0));
  NodePtr out = c.chance(85) ? operate("*", a, b) : operate("+", a, b);
  return c.chance(35) ? masked(s, out) : out;
}

} // namespace

NodePtr term(Site& s) {
  Context& c = s.c;
  if (s.simple) return simpleTerm(s);
  NodePtr out = product(s);
  if (c.chance(12)) out = operate(c.chance(50) ? "+" : "-", out, product(s));
  if (c.chance(50)) out = masked(s, out);
  if (c.chance(12)) out = masked(s, out);
  if (c.chance(8)) out = operate("*", out, factor(s));
  if (c.chance(6)) out = make(Form::Builtin, s.element, {out, constant(s.element, 0)}, "max");
  return out;
}

} // namespace melix::fuzz::programs
