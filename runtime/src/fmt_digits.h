#pragma once
// The functions of fmt and fast_float that the runtime uses. Both are header-only: one small file holds their
// headers.

#include <stdint.h>

namespace melix::runtime {

/// significand · 10^exponent
struct ShortDigits {
  uint64_t significand;
  int32_t exponent;
};
/// The shortest digits that read back as `value` > 0, finite; of those the nearest; without zeros at the end.
/// Method: Dragonbox (Jeon 2020).
ShortDigits shortDigits(double value);
ShortDigits shortDigits(float value);

/// How many digits a number has: 1 to 20, one for zero.
int digitCount(uint64_t value);
/// Writes the `count` digits of a number; returns their end.
char* writeWhole(char* to, uint64_t value, int count);
/// The same with a point after the first `whole` > 0 of the `count` digits.
char* writePointed(char* to, uint64_t value, int count, int whole);
/// Ten to the power of 0 to 19.
uint64_t powerOfTen(int exponent);

/// The number nearest to the digits, the point and the exponent that a text begins with, with or without a
/// leading `-`. Returns where they end, `begin` if there are none. Beyond the range of the type it is
/// infinite or zero. Method: Lemire 2021.
const char* readDecimal(const char* begin, const char* end, double& value);
const char* readDecimal(const char* begin, const char* end, float& value);

} // namespace melix::runtime
