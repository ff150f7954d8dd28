// Shortest digits come from fmt (Dragonbox), exact ones from the C library where the shortest do not tell
// them.
#include "decimal.h"

#include "fmt_digits.h"
#include "melix/abi.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

namespace melix::runtime {

namespace {

struct FloatFormat {
  int mantissaBits;
  int exponentBits;
  bool infinite; ///< the highest exponent is for infinities and NaN; else only all ones is NaN

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
};

FloatFormat formatOf(uint8_t kind) {
  switch (kind) {
  case MELIX_KIND_F8E4M3: return {3, 4, false};
  case MELIX_KIND_F8E5M2: return {2, 5, true};
  case MELIX_KIND_F16: return {10, 5, true};
  default: return {7, 8, true}; // bf16
  }
}

/// The magnitude of the bits of a float of at most 16 bits.
double narrowMagnitude(uint64_t bits, const FloatFormat& format) {
  const uint64_t most = (1ull << format.mantissaBits) - 1;
  const uint64_t fraction = bits & most;
  const int highest = (1 << format.exponentBits) - 1;
  const int exponent = static_cast<int>(bits >> format.mantissaBits) & highest;
  if (exponent == highest && format.infinite)
    return fraction ? static_cast<double>(NAN) : static_cast<double>(INFINITY);
  if (exponent == highest && fraction == most) return static_cast<double>(NAN);
  const uint64_t mantissa = exponent ? fraction | (most + 1) : fraction;
  return ldexp(static_cast<double>(mantissa),
               (exponent ? exponent : 1) - format.bias() - format.mantissaBits);
}

/// The digits that the C library wrote, whatever it put for the point.
void readDigits(const char* text, Decimal& out) {
  out.count = 0;
  out.point = 0;
  bool behind = false;
  for (; *text && *text != 'e'; text++) {
    if (*text < '0' || *text > '9') {
      behind = true;
    } else {
      const bool leading = out.count == 0 && *text == '0';
      if (!leading) out.digits[out.count++] = *text;
      out.point += behind ? (leading ? -1 : 0) : (leading ? 0 : 1);
    }
  }
  if (*text == 'e') {
    const bool down = *++text == '-';
    int exponent = 0;
    while (*++text) exponent = 10 * exponent + (*text - '0');
    out.point += down ? -exponent : exponent;
  }
  while (out.count > 0 && out.digits[out.count - 1] == '0') out.count--;
  if (out.count == 0) out.point = 0;
}

/// So many significant digits of an f64 are its shortest ones, rounded, but for ties: these lie closer to the
/// value than half a unit of the last of 15 digits, and if half a unit lay between the two, it would have
/// been the shortest.
constexpr int32_t tellingDigits = 15;

/// Rounds the shortest digits of `value` to `count`, which follows from where their point is. False where
/// that may differ from the exact value rounded.
template <class Count>
bool roundShortest(double value, Count countAt, ShortDigits& out) {
  out = {0, 0};
  if (value < DBL_MIN) return value == 0;
  out = shortDigits(value);
  const int32_t point = digitCount(out.significand) + out.exponent;
  const int32_t count = countAt(point);
  return count <= tellingDigits && !roundDigits(out, point - count);
}

constexpr size_t longestExact = 512; // 309 digits, the point, 101 digits of a percentage

/// The f64 nearest to a few digits.
double valueOf(ShortDigits digits) {
  char text[32];
  char* end = writeWhole(text, digits.significand, digitCount(digits.significand));
  end += snprintf(end, 8, "e%d", digits.exponent);
  double value = 0;
  readDecimal(text, end, value);
  return value;
}

/// Without zeros at the end, which rounding up leaves.
ShortDigits withoutZeros(ShortDigits digits) {
  for (; digits.significand % 10 == 0; digits.exponent++) digits.significand /= 10;
  return digits;
}

/// A narrow float has few digits: the fewest that round to it. Above a power of two is more room than below
/// it, so the next number of so many digits may round to it where the nearest one does not.
ShortDigits shortestNarrow(double value, const FloatFormat& format) {
  int exponent;
  const bool isPower = frexp(value, &exponent) == 0.5;
  const int lowest = 1 - format.bias();
  const bool isNormal = --exponent > lowest;
  const double spacing = ldexp(1, (isNormal ? exponent : lowest) - format.mantissaBits);
  const double low = value - spacing / (isPower && isNormal ? 4 : 2), high = value + spacing / 2;
  const bool isEven =
      static_cast<uint64_t>(value / spacing) % 2 == 0; // what is halfway reads back as the even one
  auto readsBack = [&](ShortDigits digits) {
    const double read = valueOf(digits);
    return isEven ? low <= read && read <= high : low < read && read < high;
  };
  const ShortDigits whole = shortDigits(value);
  const int32_t point = digitCount(whole.significand) + whole.exponent;
  for (int32_t count = 1;; count++) {
    ShortDigits digits = whole;
    roundDigits(digits, point - count);
    if (readsBack(digits)) return withoutZeros(digits);
    digits.significand++;
    if (readsBack(digits)) return withoutZeros(digits);
  }
}

} // namespace

FloatValue floatFromBits(uint64_t bits, uint8_t kind) {
  double value;
  if (kind == MELIX_KIND_F64) {
    memcpy(&value, &bits, sizeof value);
  } else if (kind == MELIX_KIND_F32) {
    float single;
    const auto low = static_cast<uint32_t>(bits);
    memcpy(&single, &low, sizeof single);
    value = static_cast<double>(single);
  } else {
    const FloatFormat format = formatOf(kind);
    return {narrowMagnitude(bits, format), (bits >> (format.mantissaBits + format.exponentBits) & 1) != 0,
            kind};
  }
  return {fabs(value), signbit(value) != 0, kind};
}

ShortDigits shortestDigits(const FloatValue& value) {
  if (value.magnitude == 0) return {0, 0};
  if (value.kind == MELIX_KIND_F64) return shortDigits(value.magnitude);
  if (value.kind == MELIX_KIND_F32) return shortDigits(static_cast<float>(value.magnitude));
  return shortestNarrow(value.magnitude, formatOf(value.kind));
}

bool roundDigits(ShortDigits& digits, int32_t exponent) {
  const int32_t cut = exponent - digits.exponent;
  if (cut <= 0) return false;
  digits.exponent = exponent;
  const uint64_t value = digits.significand;
  if (cut > 19) { // below half of 10^20
    digits.significand = 0;
    return false;
  }
  const uint64_t unit = powerOfTen(cut), rest = value % unit;
  digits.significand = value / unit;
  const bool isHalf = rest == unit / 2;
  digits.significand += isHalf ? digits.significand % 2 : rest > unit / 2;
  return isHalf;
}

bool roundedShort(double value, int32_t places, ShortDigits& out) {
  if (!roundShortest(value, [&](int32_t point) { return places + point; }, out)) return false;
  // The digits that are left are at most 15 in front of that place.
  out = {out.significand ? out.significand * powerOfTen(out.exponent + places) : 0, -places};
  return true;
}

void setDigits(ShortDigits from, Decimal& out) {
  out.count = out.point = 0;
  if (from.significand == 0) return;
  out.count = digitCount(from.significand);
  writeWhole(out.digits, from.significand, out.count);
  out.point = out.count + from.exponent;
  while (out.digits[out.count - 1] == '0') out.count--;
}

void roundedDigits(double value, int32_t places, Decimal& out) {
  ShortDigits digits;
  if (roundedShort(value, places, digits)) return setDigits(digits, out);
  char text[longestExact];
  snprintf(text, sizeof text, "%.*f", places, value);
  readDigits(text, out);
}

void significantDigits(double value, int32_t count, Decimal& out) {
  ShortDigits digits;
  if (roundShortest(value, [&](int32_t) { return count; }, digits)) return setDigits(digits, out);
  char text[longestExact];
  snprintf(text, sizeof text, "%.*e", count - 1, value);
  readDigits(text, out);
}

} // namespace melix::runtime
