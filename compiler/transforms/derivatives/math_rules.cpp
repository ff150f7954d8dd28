// Derivatives of the elementary functions, one function a row of math.def.

#include "transforms/derivatives/scalar_rules.h"

#include <limits>
#include <numbers>

namespace melix::transforms {

using ops::CmpKind;
using ops::MathKind;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a row sees: operands, result, and how to write what it makes of them.
struct Row {
  Emit& e;
  std::span<const ValueId> x;
  ValueId r;
  ValueId number(double v) const { return e.number(e.typeOf(r), v); }
  ValueId squared(ValueId v) const { return e.mul(v, v); }
  ValueId inverse(ValueId v) const { return e.div(number(1.0), v); }
  ValueId magnitude(ValueId v) const { return e.unary(OpKind::Abs, v); }
  ValueId larger(ValueId a, ValueId b) const { return e.select(e.cmp(CmpKind::Gt, a, b), a, b); }
  ValueId fma(ValueId a, ValueId b, ValueId c) const {
    return e.one(e.simple(OpKind::Fma, {a, b, c}), e.typeOf(a));
  }
  ValueId exp(ValueId v) const { return e.math(MathKind::Exp, {v}); }
  ValueId isBelow(ValueId v, double bound) const { return e.cmp(CmpKind::Lt, v, number(bound)); }
  ValueId isAbove(ValueId v, double bound) const { return e.cmp(CmpKind::Gt, v, number(bound)); }
  /// x[0], or the bound where it is larger than that.
  ValueId within(double bound) const {
    return e.select(isAbove(magnitude(x[0]), bound), number(bound), x[0]);
  }
  bool isWide() const { return e.types().kind(e.typeOf(r)) == TypeKind::F64; }
  ValueId equals(ValueId v, double other) const { return e.cmp(CmpKind::Eq, v, number(other)); }
};

ValueId dExp(const Row& w) { return w.r; }
ValueId dExp2(const Row& w) { return w.e.mul(w.r, w.number(std::numbers::ln2)); }
ValueId dExpm1(const Row& w) { return w.exp(w.x[0]); } // r + 1 cancels where r is near -1
ValueId dLog(const Row& w) { return w.inverse(w.x[0]); }
ValueId dLog2(const Row& w) { return w.e.div(w.number(std::numbers::log2e), w.x[0]); }
ValueId dLog10(const Row& w) { return w.e.div(w.number(std::numbers::log10e), w.x[0]); }
ValueId dLog1p(const Row& w) { return w.inverse(w.e.add(w.number(1.0), w.x[0])); }
ValueId dSin(const Row& w) { return w.e.math(MathKind::Cos, {w.x[0]}); }
ValueId dCos(const Row& w) { return w.e.neg(w.e.math(MathKind::Sin, {w.x[0]})); }
ValueId dTan(const Row& w) { return w.fma(w.r, w.r, w.number(1.0)); }

/// With one rounding, so that nothing cancels.
ValueId oneMinusSquare(const Row& w, ValueId v) { return w.fma(w.e.neg(v), v, w.number(1.0)); }
ValueId dAsin(const Row& w) { return w.inverse(w.e.unary(OpKind::Sqrt, oneMinusSquare(w, w.x[0]))); }
ValueId dAcos(const Row& w) {
  return w.e.div(w.number(-1.0), w.e.unary(OpKind::Sqrt, oneMinusSquare(w, w.x[0])));
}

/// 1 / (1 + x^2) as y / (y + x^2 y) with y = 1 / max(|x|, 1), so that no square overflows.
ValueId dAtan(const Row& w) {
  ValueId x = w.within(w.isWide() ? 0x1p540 : 0x1p76), size = w.magnitude(x); // beyond, it is 0
  ValueId y = w.inverse(w.e.select(w.isAbove(size, 1.0), size, w.number(1.0)));
  return w.e.div(y, w.fma(w.e.mul(x, y), x, y));
}
ValueId dSinh(const Row& w) { return w.e.math(MathKind::Cosh, {w.x[0]}); }
ValueId dCosh(const Row& w) { return w.e.math(MathKind::Sinh, {w.x[0]}); }

/// 1 - r^2; where r is too near 1 for that, 4 e / (1 + e)^2 with e = e^(-2 |x|).
ValueId dTanh(const Row& w) {
  ValueId e = w.exp(w.e.mul(w.number(-2.0), w.magnitude(w.x[0])));
  ValueId far = w.e.div(w.e.mul(w.number(4.0), e), w.squared(w.e.add(w.number(1.0), e)));
  return w.e.select(w.isBelow(w.magnitude(w.r), 0.5), oneMinusSquare(w, w.r), far);
}

/// 2 / sqrt(pi) e^(-x^2), with what x^2 loses by rounding, which e^… makes large, as a factor 1 - lost.
ValueId dErf(const Row& w) {
  ValueId x = w.within(32); // beyond, it is 0
  ValueId square = w.squared(x), lost = w.fma(x, x, w.e.neg(square));
  ValueId bell = w.exp(w.e.neg(square));
  return w.e.mul(w.number(2.0 * std::numbers::inv_sqrtpi), w.fma(w.e.neg(lost), bell, bell));
}

/// Whether y - 1 is rounded, so that x^(y-1) is not the slope's power but r / x is: x is neither 0 nor
/// infinite then.
ValueId losesExponent(const Row& w) {
  ValueId x = w.magnitude(w.x[0]), y = w.x[1];
  ValueId rounds = w.e.binary(OpKind::Or, w.isBelow(y, 0.5), w.isAbove(y, w.isWide() ? 0x1p53 : 0x1p24));
  ValueId divides = w.e.binary(OpKind::And, w.isAbove(x, 0.0), w.isBelow(x, infinity));
  return w.e.binary(OpKind::And, rounds, divides);
}

// Note: Powers of what is not positive
//
// x^y is taken to stay as it is when y changes where x is not positive, where most y near by give no number.
// So its slope by y is 0 there, and the slope by x does not change with y either: both mixed slopes are 0.
// A way that a `select` does not take is kept finite, with its slopes: in reverse it is multiplied by 0.

/// y x^(y-1), or y r / x; 0 when y is 0, also at x = 0.
ValueId dPowBase(const Row& w) {
  ValueId x = w.x[0], one = w.number(1.0), divide = losesExponent(w);
  ValueId y = w.e.select(w.isAbove(x, 0.0), w.x[1], w.e.unary(OpKind::StopGradient, w.x[1]));
  ValueId quotient = w.e.div(w.e.mul(y, w.r), w.e.select(divide, x, one));
  ValueId isFlat = w.e.binary(OpKind::Or, divide, w.equals(y, 0.0));
  ValueId power = w.e.math(MathKind::Pow, {w.e.select(isFlat, one, x), w.e.sub(y, one)});
  return w.e.select(divide, quotient, w.e.mul(y, power));
}
/// r log x; 0 where x is not positive, and where r is 0, also for infinite x.
ValueId dPowExponent(const Row& w) {
  ValueId isSteep = w.e.binary(OpKind::And, w.isAbove(w.x[0], 0.0), w.e.cmp(CmpKind::Ne, w.r, w.number(0.0)));
  ValueId slope = w.e.mul(w.r, w.e.math(MathKind::Log, {w.e.select(isSteep, w.x[0], w.number(1.0))}));
  return w.e.select(isSteep, slope, w.number(0.0));
}

/// The quotient that the remainder was taken off by, a whole number: divided before the difference, which may
/// overflow. The remainder is the divisor where that is infinite and of the other sign.
ValueId dRemDivisor(const Row& w) {
  ValueId over = w.e.select(w.e.cmp(CmpKind::Eq, w.r, w.x[1]), w.number(1.0), w.e.div(w.r, w.x[1]));
  ValueId quotient = w.e.sub(w.e.div(w.x[0], w.x[1]), over);
  return w.e.neg(w.e.round(ops::RoundMode::HalfEven, quotient));
}

/// x2 or -x1 over x1^2 + x2^2: all scaled by the larger, so that no square overflows, and 0 where one is
/// infinite.
ValueId overSquares(const Row& w, bool second) {
  auto finite = [&](ValueId v) { return w.e.select(w.equals(w.magnitude(v), infinity), w.number(1.0), v); };
  ValueId x1 = finite(w.x[0]), x2 = finite(w.x[1]), scale = w.larger(w.magnitude(x1), w.magnitude(x2));
  ValueId p = w.e.div(x1, scale), q = w.e.div(x2, scale);
  ValueId scaled = w.e.div(second ? w.e.neg(p) : q, w.fma(p, p, w.squared(q)));
  return w.e.div(scaled, w.larger(w.magnitude(w.x[0]), w.magnitude(w.x[1])));
}
ValueId dAtan2First(const Row& w) { return overSquares(w, false); }
ValueId dAtan2Second(const Row& w) { return overSquares(w, true); }

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
  case MathKind::Rem: return which == 0 ? w.number(1.0) : dRemDivisor(w);
  case MathKind::Atan2: return which == 0 ? dAtan2First(w) : dAtan2Second(w);
  }
  return {};
}

} // namespace melix::transforms
