// Derivatives of the elementary functions, one function a row of math.def. They are as exact as the
// functions, so what cancels is not written as a difference of rounded values.

#include "transforms/ad_rules.h"

#include <numbers>

namespace melix::transforms {

using ops::CmpKind;
using ops::MathKind;

namespace {

/// What a row sees: operands, result, and how to write constants of their type.
struct Row {
  Emit& e;
  std::span<const ValueId> x;
  ValueId r;
  ValueId number(double v) const { return e.number(e.typeOf(r), v); }
  ValueId squared(ValueId v) const { return e.mul(v, v); }
  ValueId inverse(ValueId v) const { return e.div(number(1.0), v); }
  ValueId fma(ValueId a, ValueId b, ValueId c) const {
    return e.one(Emit::simple(OpKind::Fma, {a, b, c}), e.typeOf(r));
  }
};

ValueId dExp(const Row& w) { return w.r; }
ValueId dExp2(const Row& w) { return w.e.mul(w.r, w.number(std::numbers::ln2)); }
ValueId dExpm1(const Row& w) { return w.e.math(MathKind::Exp, {w.x[0]}); }
ValueId dLog(const Row& w) { return w.inverse(w.x[0]); }
ValueId dLog2(const Row& w) { return w.inverse(w.e.mul(w.x[0], w.number(std::numbers::ln2))); }
ValueId dLog10(const Row& w) { return w.inverse(w.e.mul(w.x[0], w.number(std::numbers::ln10))); }
ValueId dLog1p(const Row& w) { return w.inverse(w.e.add(w.number(1.0), w.x[0])); }
ValueId dSin(const Row& w) { return w.e.math(MathKind::Cos, {w.x[0]}); }
ValueId dCos(const Row& w) { return w.e.neg(w.e.math(MathKind::Sin, {w.x[0]})); }
ValueId dTan(const Row& w) { return w.e.add(w.number(1.0), w.squared(w.r)); }
/// sqrt((1 - x) (1 + x)), where the difference is exact from a half on.
ValueId legOf(const Row& w) {
  ValueId less = w.e.sub(w.number(1.0), w.x[0]), more = w.e.add(w.number(1.0), w.x[0]);
  return w.e.unary(OpKind::Sqrt, w.e.mul(less, more));
}
ValueId dAsin(const Row& w) { return w.inverse(legOf(w)); }
ValueId dAcos(const Row& w) { return w.e.div(w.number(-1.0), legOf(w)); }
ValueId dAtan(const Row& w) { return w.inverse(w.e.add(w.number(1.0), w.squared(w.x[0]))); }
ValueId dSinh(const Row& w) { return w.e.math(MathKind::Cosh, {w.x[0]}); }
ValueId dCosh(const Row& w) { return w.e.math(MathKind::Sinh, {w.x[0]}); }
/// 4 t / (1 + t)^2 with t = exp(-2 |x|); the sign is chosen, not taken away, so that this has derivatives at
/// 0.
ValueId dTanh(const Row& w) {
  ValueId x = w.x[0], down = w.e.select(w.e.cmp(CmpKind::Lt, x, w.number(0.0)), x, w.e.neg(x));
  ValueId t = w.e.math(MathKind::Exp, {w.e.mul(w.number(2.0), down)});
  return w.e.div(w.e.mul(w.number(4.0), t), w.squared(w.e.add(w.number(1.0), t)));
}
/// 2 / sqrt(pi) exp(-s) (1 - d), where x^2 = s + d exactly; beyond 30 it is 0, and s would be infinite.
ValueId dErf(const Row& w) {
  ValueId below = w.e.binary(OpKind::Min, w.x[0], w.number(30.0));
  ValueId x = w.e.binary(OpKind::Max, below, w.number(-30.0));
  ValueId s = w.squared(x), d = w.fma(x, x, w.e.neg(s)), bell = w.e.math(MathKind::Exp, {w.e.neg(s)});
  return w.e.mul(w.number(2.0 * std::numbers::inv_sqrtpi), w.e.sub(bell, w.e.mul(bell, d)));
}

/// y x^(y-1); 0 when y is 0, also at x = 0.
ValueId dPowBase(const Row& w) {
  ValueId y = w.x[1];
  ValueId slope = w.e.mul(y, w.e.math(MathKind::Pow, {w.x[0], w.e.sub(y, w.number(1.0))}));
  return w.e.select(w.e.cmp(CmpKind::Eq, y, w.number(0.0)), w.number(0.0), slope);
}
/// r log x; 0 where x is not positive.
ValueId dPowExponent(const Row& w) {
  ValueId slope = w.e.mul(w.r, w.e.math(MathKind::Log, {w.x[0]}));
  return w.e.select(w.e.cmp(CmpKind::Gt, w.x[0], w.number(0.0)), slope, w.number(0.0));
}
ValueId norm2(const Row& w) { return w.e.add(w.squared(w.x[0]), w.squared(w.x[1])); }
ValueId dAtan2First(const Row& w) { return w.e.div(w.x[1], norm2(w)); }
ValueId dAtan2Second(const Row& w) { return w.e.div(w.e.neg(w.x[0]), norm2(w)); }

} // namespace

ValueId mathDerivative(Emit& e, MathKind kind, std::span<const ValueId> x, ValueId r, unsigned which) {
  Row w{e, x, r};
  switch (kind) {
  case MathKind::Exp: return dExp(w);
  case MathKind::Exp2: return dExp2(w);
  case MathKind::Expm1: return dExpm1(w);
  case MathKind::Log: return dLog(w);
  case MathKind::Log2: return dLog2(w);
  case MathKind::Log10: return dLog10(w);
  case MathKind::Log1p: return dLog1p(w);
  case MathKind::Sin: return dSin(w);
  case MathKind::Cos: return dCos(w);
  case MathKind::Tan: return dTan(w);
  case MathKind::Asin: return dAsin(w);
  case MathKind::Acos: return dAcos(w);
  case MathKind::Atan: return dAtan(w);
  case MathKind::Sinh: return dSinh(w);
  case MathKind::Cosh: return dCosh(w);
  case MathKind::Tanh: return dTanh(w);
  case MathKind::Erf: return dErf(w);
  case MathKind::Pow: return which == 0 ? dPowBase(w) : dPowExponent(w);
  case MathKind::Atan2: return which == 0 ? dAtan2First(w) : dAtan2Second(w);
  }
  return {};
}

} // namespace melix::transforms
