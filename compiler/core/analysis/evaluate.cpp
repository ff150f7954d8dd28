#include "core/analysis/evaluate.h"

#include "core/ir/monoid.h"

#include <algorithm>
#include <cfenv>

namespace melix::core {

namespace {

using types::ScalarClass;

bool isSigned(TypeKind kind) { return types::scalarClass(kind) == ScalarClass::SInt; }

/// As many ones as a kind has bits; those without a width of their own have 64.
uint64_t allOnes(TypeKind kind) {
  const unsigned width = types::scalarBits(kind);
  return width == 0 || width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}
uint64_t largest(TypeKind kind) { return isSigned(kind) ? allOnes(kind) >> 1 : allOnes(kind); }
uint64_t smallest(TypeKind kind) { return isSigned(kind) ? ~largest(kind) : 0; }

uint64_t integerFromFloat(TypeKind to, double v) {
  if (std::isnan(v)) return 0;
  v = std::trunc(v);
  const double end = std::ldexp(1.0, static_cast<int>(types::scalarBits(to)) - isSigned(to));
  if (v >= end) return largest(to);
  if (v <= (isSigned(to) ? -end : 0.0)) return smallest(to);
  return isSigned(to) ? static_cast<uint64_t>(static_cast<int64_t>(v)) : static_cast<uint64_t>(v);
}

uint64_t integerFromInteger(TypeKind from, TypeKind to, ops::ConvertMode mode, uint64_t bits) {
  if (mode == ops::ConvertMode::Wrap || to == TypeKind::Char || to == TypeKind::Bool)
    return extendedBits(to, bits);
  const auto value = static_cast<int64_t>(bits);
  if (!isSigned(from) || value >= 0) return std::min(bits, largest(to));
  return isSigned(to) ? static_cast<uint64_t>(std::max(value, static_cast<int64_t>(smallest(to)))) : 0;
}

/// One rounding, to the final type or to f32, in which narrower ones are computed.
template <class T>
uint64_t floatFromInteger(TypeKind from, TypeKind to, uint64_t bits) {
  const T value = isSigned(from) ? static_cast<T>(static_cast<int64_t>(bits)) : static_cast<T>(bits);
  return floatBits(to, static_cast<double>(value));
}

} // namespace

uint64_t lowBits(TypeKind kind, uint64_t bits) { return bits & allOnes(kind); }

uint64_t extendedBits(TypeKind kind, uint64_t bits) {
  return isSigned(kind) ? static_cast<uint64_t>(signedBits(kind, bits)) : lowBits(kind, bits);
}

ScalarFunction scalarFunction(OpKind op, TypeKind kind, uint32_t detail) {
  return withScalarOp<ScalarFunction>(op, kind, detail,
                                      []<class K, class F>(K, F) { return &applied<K, F>; });
}

uint64_t convertedBits(TypeKind from, TypeKind to, ops::ConvertMode mode, uint64_t bits) {
  const bool fromFloat = types::isFloatKind(from), toFloat = types::isFloatKind(to);
  if (from == to) return bits;
  if (fromFloat && toFloat) return floatBits(to, floatValue(from, bits));
  if (fromFloat) return integerFromFloat(to, floatValue(from, bits));
  if (!toFloat) return integerFromInteger(from, to, mode, bits);
  return to == TypeKind::F64 ? floatFromInteger<double>(from, to, bits)
                             : floatFromInteger<float>(from, to, bits);
}

OpKind combiningOp(MonoidKind monoid) {
  const std::optional<OpKind> op = infoOf(monoid).op;
  assert(op && "combined by one op");
  return *op;
}

uint64_t unitOf(MonoidKind monoid, TypeKind kind) {
  const bool isFloat = types::isFloatKind(kind);
  switch (infoOf(monoid).unit) {
  case UnitKind::Zero: return 0;
  case UnitKind::One: return isFloat ? floatBits(kind, 1.0) : 1;
  case UnitKind::Ones: return kind == TypeKind::Bool ? 1 : allOnes(kind);
  case UnitKind::Least: return isFloat ? floatBits(kind, -HUGE_VAL) : lowBits(kind, smallest(kind));
  case UnitKind::Greatest: return isFloat ? floatBits(kind, HUGE_VAL) : largest(kind);
  }
  return 0;
}

uint64_t firstTotal(MonoidKind monoid, TypeKind kind) {
  return monoid == MonoidKind::Sum ? floatBits(kind, -0.0) : unitOf(monoid, kind);
}

namespace {

/// What is computed while it lives is rounded in a direction.
class Rounded {
public:
  explicit Rounded(ops::RoundingDirection direction) : before_(std::fegetround()) {
    std::fesetround(direction == ops::RoundingDirection::Down ? FE_DOWNWARD : FE_UPWARD);
  }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
  ~Rounded() { std::fesetround(before_); }

private:
  int before_;
};

} // namespace

double directed(OpKind arithmetic, ops::RoundingDirection direction, double a, double b) {
  const Rounded rounded(direction);
  // In memory, so that it is computed after the mode is set and before it is set back.
  const volatile double x = a, y = b;
  volatile double result = 0;
  switch (arithmetic) {
  case OpKind::Add: result = x + y; break;
  case OpKind::Mul: result = x * y; break;
  case OpKind::Div: result = x / y; break;
  default: result = std::sqrt(x); break;
  }
  return result;
}

} // namespace melix::core
