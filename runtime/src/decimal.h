#pragma once
// Decimal digits of binary floating-point numbers of any format, and of whole numbers: the shortest, or
// exactly rounded ones.

#include "fmt_digits.h"

namespace melix::runtime {

/// A float of any MelixKind F8E4M3 … F64. An f64 holds each of them exactly.
struct FloatValue {
  double magnitude; ///< may be infinite or NaN
  bool negative;
  uint8_t kind;

  double value() const { return negative ? -magnitude : magnitude; }
};

/// The value of the bits of a float.
FloatValue floatFromBits(uint64_t bits, uint8_t kind);

/// The shortest digits that read back as a finite value; of those the nearest to it.
ShortDigits shortestDigits(const FloatValue& value);

/// Rounds to a multiple of 10^exponent, half to even. Returns whether it was just a half that was cut off.
bool roundDigits(ShortDigits& digits, int32_t exponent);

/// A finite value rounded half to even at `places` ≥ 0 digits after the point, with -places as the exponent.
/// False if the shortest digits do not determine how the exact ones round.
bool roundedShort(double value, int32_t places, ShortDigits& out);

/// value = 0.d1 d2 … dn · 10^point (d1 ≠ 0, dn ≠ 0); no digits stand for zero.
struct Decimal {
  /// Whole parts have at most 309 digits, specifications ask for at most 99 (`melix/format_limits.h`), of
  /// percentages for two more.
  static constexpr int capacity = 416;
  char digits[capacity]; ///< '0'..'9'
  int32_t count = 0;
  int32_t point = 0;
};

void setDigits(ShortDigits from, Decimal& out);
/// The exact finite value rounded half to even at `places` ≥ 0 digits after the point. May give no digits.
void roundedDigits(double value, int32_t places, Decimal& out);
/// The same to `count` > 0 significant digits.
void significantDigits(double value, int32_t count, Decimal& out);

} // namespace melix::runtime
