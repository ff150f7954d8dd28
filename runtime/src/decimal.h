#pragma once
// Exact decimal digits of binary floating-point numbers of any format.

#include <stdint.h>

namespace melix::runtime {

/// |value| = mantissa · 2^exponent, or no finite number.
struct BinaryFloat {
  enum Class : uint8_t { Finite, Infinite, Nan };
  uint64_t mantissa = 0;
  int32_t exponent = 0;
  bool negative = false;
  bool lowerIsCloser = false; ///< the next smaller number is only half as far away as the next larger one
  Class kind = Finite;
};

/// Splits the bits of a float of MelixKind F8E4M3 … F64.
BinaryFloat splitFloat(uint64_t bits, uint8_t kind);

/// value = 0.d1 d2 … dn · 10^point (d1 ≠ 0); no digits stand for zero.
struct Decimal {
  static constexpr int capacity = 800; ///< every f64 has at most 767 digits
  char digits[capacity];               ///< '0'..'9'
  int32_t count = 0;
  int32_t point = 0;
};

/// The shortest digits that read back as `value` (of those the nearest to it); the bounds count when the
/// mantissa is even, as reading rounds ties to even. Method: Steele and White 1990, with the estimate of
/// Burger and Dybvig 1996.
void shortestDigits(const BinaryFloat& value, Decimal& out);

/// The exact value rounded half to even at `places` digits behind the point (may be negative). May give no
/// digits.
void roundedDigits(const BinaryFloat& value, int32_t places, Decimal& out);
/// The same to `count` > 0 significant digits.
void significantDigits(const BinaryFloat& value, int32_t count, Decimal& out);

} // namespace melix::runtime
