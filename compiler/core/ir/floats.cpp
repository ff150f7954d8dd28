// Float formats narrower than f32, by their bits.
#include "core/ir/build.h"

#include <bit>
#include <cmath>

namespace melix::core {

namespace {

struct Format {
  int exponentBits, mantissaBits;
  bool hasInfinity; ///< f8e4m3 has none: its largest exponent holds numbers, all ones is NaN
};

Format formatOf(TypeKind kind) {
  switch (kind) {
  case TypeKind::F8E4M3: return {4, 3, false};
  case TypeKind::F8E5M2: return {5, 2, true};
  case TypeKind::F16: return {5, 10, true};
  default: assert(kind == TypeKind::BF16); return {8, 7, true};
  }
}

/// Round to nearest, ties to even, with subnormals; overflow gives infinity, or NaN where there is none.
uint64_t narrowBits(Format f, double value) {
  uint64_t sign = std::signbit(value) ? uint64_t(1) << (f.exponentBits + f.mantissaBits) : 0;
  uint64_t allExponent = ((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits;
  uint64_t mantissaMask = (uint64_t(1) << f.mantissaBits) - 1;
  uint64_t nan =
      f.hasInfinity ? allExponent | (uint64_t(1) << (f.mantissaBits - 1)) : allExponent | mantissaMask;
  if (std::isnan(value)) return nan;
  uint64_t overflow = f.hasInfinity ? allExponent : nan;
  double size = std::fabs(value);
  if (std::isinf(value)) return sign | overflow;
  if (size == 0) return sign;
  int bias = (1 << (f.exponentBits - 1)) - 1, exponent;
  std::frexp(size, &exponent); // size = m * 2^exponent with m in [0.5, 1)
  int unit = std::max(exponent - 1, 1 - bias) - f.mantissaBits;
  double steps = std::nearbyint(std::ldexp(size, -unit));
  auto count = static_cast<uint64_t>(steps);
  int field =
      std::max(exponent - 1, 1 - bias) + bias; // of the exponent; a subnormal has the leading bit missing
  uint64_t bits = (static_cast<uint64_t>(field - 1) << f.mantissaBits) + count;
  uint64_t largest = f.hasInfinity ? allExponent - 1 : allExponent + mantissaMask - 1;
  return sign | (bits > largest ? overflow : bits);
}

double narrowValue(Format f, uint64_t bits) {
  uint64_t mantissa = bits & ((uint64_t(1) << f.mantissaBits) - 1);
  uint64_t field = (bits >> f.mantissaBits) & ((uint64_t(1) << f.exponentBits) - 1);
  double sign = (bits >> (f.exponentBits + f.mantissaBits)) & 1 ? -1.0 : 1.0;
  int bias = (1 << (f.exponentBits - 1)) - 1;
  uint64_t allOnes = (uint64_t(1) << f.exponentBits) - 1;
  if (field == allOnes) {
    bool nan = f.hasInfinity ? mantissa != 0 : mantissa == (uint64_t(1) << f.mantissaBits) - 1;
    if (nan) return std::nan("");
    if (f.hasInfinity) return sign * HUGE_VAL;
  }
  double whole = field == 0 ? 0.0 : std::ldexp(1.0, f.mantissaBits);
  int exponent = static_cast<int>(field == 0 ? 1 : field) - bias - f.mantissaBits;
  return sign * std::ldexp(whole + static_cast<double>(mantissa), exponent);
}

} // namespace

uint64_t floatBits(TypeKind kind, double value) {
  if (kind == TypeKind::F64) return std::bit_cast<uint64_t>(value);
  if (kind == TypeKind::F32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return narrowBits(formatOf(kind), value);
}

double floatValue(TypeKind kind, uint64_t bits) {
  if (kind == TypeKind::F64) return std::bit_cast<double>(bits);
  if (kind == TypeKind::F32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return narrowValue(formatOf(kind), bits);
}

int64_t signedBits(TypeKind kind, uint64_t bits) {
  unsigned width = types::scalarBits(kind);
  if (types::scalarClass(kind) != types::ScalarClass::SInt || width >= 64) return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

} // namespace melix::core
