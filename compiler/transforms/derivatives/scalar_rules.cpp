#include "transforms/derivatives/scalar_rules.h"

namespace melix::transforms {

using ops::CmpKind;

RuleMutation ruleMutation;

std::vector<ValueId> placeIndices(Emit& e, StructuralRule rule, std::vector<ValueId> indices) {
  if (mutated(rule) && !indices.empty()) {
    // Moved within the first two places, so that it stays in range.
    indices[0] = e.binary(OpKind::Xor, indices[0], e.i64(1));
  }
  return indices;
}

namespace {

/// The contribution of operand `i`, scaled when a test perturbs this rule.
ValueId contribution(Emit& e, const RuleArgs& a, uint32_t i, ValueId t) {
  if (!ruleMutation.active || ruleMutation.operand != i || !e.types().isFloat(e.typeOf(t))) return t;
  bool math = a.op.kind == OpKind::Math;
  uint32_t rule = math ? a.op.index() : static_cast<uint32_t>(a.op.kind);
  if (ruleMutation.math != math || ruleMutation.rule != rule) return t;
  return e.mul(e.number(e.typeOf(t), 1.001), t);
}

ValueId sum(Emit& e, ValueId a, ValueId b) {
  if (!a.valid()) return b;
  return b.valid() ? e.add(a, b) : a;
}

ValueId jvpAdd(Emit& e, const RuleArgs& a) {
  ValueId l = a.t[0], r = a.t[1];
  if (l.valid()) l = contribution(e, a, 0, l);
  if (r.valid()) r = contribution(e, a, 1, r);
  return sum(e, l, r);
}

ValueId jvpSub(Emit& e, const RuleArgs& a) {
  ValueId l = a.t[0], r = a.t[1];
  if (l.valid()) l = contribution(e, a, 0, l);
  if (!r.valid()) return l;
  r = contribution(e, a, 1, r);
  return l.valid() ? e.sub(l, r) : e.neg(r);
}

ValueId jvpNeg(Emit& e, const RuleArgs& a) { return e.neg(contribution(e, a, 0, a.t[0])); }

ValueId jvpMul(Emit& e, const RuleArgs& a) {
  ValueId l, r;
  if (a.t[0].valid()) l = contribution(e, a, 0, e.mul(a.t[0], a.x[1]));
  if (a.t[1].valid()) r = contribution(e, a, 1, e.mul(a.x[0], a.t[1]));
  return sum(e, l, r);
}

/// (ta - r tb) / b
ValueId jvpDiv(Emit& e, const RuleArgs& a) {
  ValueId num;
  if (a.t[0].valid()) num = contribution(e, a, 0, a.t[0]);
  if (a.t[1].valid()) {
    ValueId d = contribution(e, a, 1, e.mul(a.r, a.t[1]));
    num = num.valid() ? e.sub(num, d) : e.neg(d);
  }
  return e.div(num, a.x[1]);
}

ValueId jvpFma(Emit& e, const RuleArgs& a) {
  ValueId l, r, c;
  if (a.t[0].valid()) l = contribution(e, a, 0, e.mul(a.t[0], a.x[1]));
  if (a.t[1].valid()) r = contribution(e, a, 1, e.mul(a.x[0], a.t[1]));
  if (a.t[2].valid()) c = contribution(e, a, 2, a.t[2]);
  return sum(e, sum(e, l, r), c);
}

ValueId jvpSqrt(Emit& e, const RuleArgs& a) {
  ValueId half = e.number(e.typeOf(a.r), 0.5);
  return contribution(e, a, 0, e.div(e.mul(half, a.t[0]), a.r));
}

/// Slope 0 at the kink (rule 42).
ValueId jvpAbs(Emit& e, const RuleArgs& a) {
  ValueId zero = e.zero(e.typeOf(a.r)), t = a.t[0];
  ValueId below = e.select(e.cmp(CmpKind::Lt, a.x[0], zero), e.neg(t), e.zero(e.typeOf(t)));
  return contribution(e, a, 0, e.select(e.cmp(CmpKind::Gt, a.x[0], zero), t, below));
}

/// Min and Max: the tangent of the operand chosen; a tie follows the first.
ValueId jvpChoose(Emit& e, const RuleArgs& a, CmpKind first) {
  ValueId c = e.cmp(first, a.x[0], a.x[1]);
  ValueId zero = a.t[0].valid() && a.t[1].valid() ? ValueId() : e.zero(e.typeOf(a.r));
  ValueId l = a.t[0].valid() ? contribution(e, a, 0, a.t[0]) : zero;
  ValueId r = a.t[1].valid() ? contribution(e, a, 1, a.t[1]) : zero;
  return e.select(c, l, r);
}

ValueId jvpCopySign(Emit& e, const RuleArgs& a) {
  if (!a.t[0].valid()) return {};
  ValueId one = e.number(e.typeOf(a.r), 1.0);
  ValueId sign = e.mul(e.binary(OpKind::CopySign, one, a.x[0]), e.binary(OpKind::CopySign, one, a.x[1]));
  return contribution(e, a, 0, e.mul(sign, a.t[0]));
}

/// Of a size that nobody promised: that of the tangent.
ValueId jvpScale(Emit& e, const RuleArgs& a) {
  return a.t[0].valid() ? contribution(e, a, 0, e.scale(a.t[0], a.x[1])) : ValueId();
}

ValueId jvpDirected(Emit& e, const RuleArgs& a) {
  switch (ops::directedRow(static_cast<ops::DirectedKind>(a.op.index())).arithmetic) {
  case OpKind::Add: return jvpAdd(e, a);
  case OpKind::Mul: return jvpMul(e, a);
  case OpKind::Div: return jvpDiv(e, a);
  case OpKind::Sqrt: return jvpSqrt(e, a);
  default: return {};
  }
}

ValueId jvpSelect(Emit& e, const RuleArgs& a) {
  TypeId type = e.typeOf(a.t[1].valid() ? a.t[1] : a.t[2]);
  bool scalar = e.types().isFloat(type);
  auto arm = [&](uint32_t i) {
    if (!a.t[i].valid()) return e.zero(type);
    return scalar ? contribution(e, a, i, a.t[i]) : a.t[i];
  };
  ValueId l = arm(1), r = arm(2);
  return e.select(a.x[0], l, r);
}

ValueId jvpConvert(Emit& e, const RuleArgs& a) {
  return contribution(e, a, 0, e.convert(a.t[0], e.typeOf(a.r)));
}

ValueId jvpMath(Emit& e, const RuleArgs& a) {
  auto kind = static_cast<ops::MathKind>(a.op.index());
  ValueId out;
  for (unsigned i = 0; i < a.x.size(); ++i)
    if (a.t[i].valid())
      out = sum(e, out, contribution(e, a, i, e.mul(mathDerivative(e, kind, a.x, a.r, i), a.t[i])));
  return out;
}

} // namespace

bool hasScalarRule(OpKind kind) {
  switch (kind) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Div:
  case OpKind::Neg:
  case OpKind::Fma:
  case OpKind::Sqrt:
  case OpKind::Abs:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::CopySign:
  case OpKind::Scale:
  case OpKind::Directed:
  case OpKind::Math:
  case OpKind::Select:
  case OpKind::Convert: return true;
  default: return false;
  }
}

ValueId jvpScalar(Emit& e, const RuleArgs& a) {
  switch (a.op.kind) {
  case OpKind::Add: return jvpAdd(e, a);
  case OpKind::Sub: return jvpSub(e, a);
  case OpKind::Neg: return jvpNeg(e, a);
  case OpKind::Mul: return jvpMul(e, a);
  case OpKind::Div: return jvpDiv(e, a);
  case OpKind::Fma: return jvpFma(e, a);
  case OpKind::Sqrt: return jvpSqrt(e, a);
  case OpKind::Abs: return jvpAbs(e, a);
  case OpKind::Min: return jvpChoose(e, a, CmpKind::Le);
  case OpKind::Max: return jvpChoose(e, a, CmpKind::Ge);
  case OpKind::CopySign: return jvpCopySign(e, a);
  case OpKind::Scale: return jvpScale(e, a);
  case OpKind::Directed: return jvpDirected(e, a);
  case OpKind::Math: return jvpMath(e, a);
  case OpKind::Select: return jvpSelect(e, a);
  case OpKind::Convert: return jvpConvert(e, a);
  default: return {};
  }
}

} // namespace melix::transforms
