#include "decimal.h"

#include "big_number.h"
#include "melix/abi.h"

namespace melix::runtime {

namespace {

struct FloatFormat {
  int mantissaBits;
  int exponentBits;
  bool infinite; ///< the highest exponent is for infinities and NaN; else only all ones is NaN
};

FloatFormat formatOf(uint8_t kind) {
  switch (kind) {
  case MELIX_KIND_F8E4M3: return {3, 4, false};
  case MELIX_KIND_F8E5M2: return {2, 5, true};
  case MELIX_KIND_F16: return {10, 5, true};
  case MELIX_KIND_BF16: return {7, 8, true};
  case MELIX_KIND_F32: return {23, 8, true};
  default: return {52, 11, true};
  }
}

/// numerator / denominator · 10^point is the value, with numerator / denominator in [0.1, 1), or what rounds
/// there.
struct Ratio {
  BigNumber numerator;
  BigNumber denominator;
};

/// floor(log10(mantissa · 2^exponent)) + 1, or one less.
int32_t estimatePoint(const BinaryFloat& value) {
  int bits = 64 - __builtin_clzll(value.mantissa);
  // log10(2) = 0.30102999566…; the error over the range of exponents stays below one.
  int64_t log2 = value.exponent + bits - 1;
  int64_t scaled = log2 * 1292913986ll; // · 2^32 log10(2), rounded down
  return static_cast<int32_t>(scaled >> 32) + 1;
}

void setRatio(const BinaryFloat& value, int32_t point, Ratio& ratio) {
  ratio.numerator.set(value.mantissa);
  ratio.denominator.set(1);
  if (value.exponent >= 0)
    ratio.numerator.shiftLeft(static_cast<uint32_t>(value.exponent));
  else
    ratio.denominator.shiftLeft(static_cast<uint32_t>(-value.exponent));
  if (point >= 0)
    ratio.denominator.multiplyPower10(static_cast<uint32_t>(point));
  else
    ratio.numerator.multiplyPower10(static_cast<uint32_t>(-point));
}

/// Quotient below 10 of the division; the remainder stays in `numerator`.
int takeDigit(Ratio& ratio) {
  ratio.numerator.multiply(10);
  return ratio.numerator.divideSmall(ratio.denominator);
}

/// Adds one in the last place.
void roundUp(Decimal& out) {
  int32_t k = out.count;
  while (k > 0 && out.digits[k - 1] == '9') k--;
  if (k == 0) {
    out.digits[0] = '1';
    out.count = 1;
    out.point++;
    return;
  }
  out.digits[k - 1]++;
  out.count = k;
}

void dropTrailingZeros(Decimal& out) {
  while (out.count > 0 && out.digits[out.count - 1] == '0') out.count--;
}

/// Digits until `wanted` are there (places behind the point or in all), then rounding by the exact rest.
void exactDigits(const BinaryFloat& value, int32_t wanted, bool significant, Decimal& out) {
  out.count = 0;
  out.point = 0;
  if (value.mantissa == 0) return;
  Ratio ratio;
  int32_t point = estimatePoint(value);
  setRatio(value, point, ratio);
  if (ratio.numerator.compare(ratio.denominator) >= 0) {
    point++;
    ratio.denominator.multiply(10);
  }
  out.point = point;
  int64_t count = significant ? wanted : static_cast<int64_t>(wanted) + point;
  if (count > Decimal::capacity - 1) count = Decimal::capacity - 1;
  if (count < 0) return; // below half of the last place
  while (out.count < count && !ratio.numerator.isZero())
    out.digits[out.count++] = static_cast<char>('0' + takeDigit(ratio));
  ratio.numerator.shiftLeft(1);
  int order = ratio.numerator.compare(ratio.denominator);
  bool odd = out.count > 0 && ((out.digits[out.count - 1] - '0') & 1);
  if (order > 0 || (order == 0 && odd)) roundUp(out);
  dropTrailingZeros(out);
}

} // namespace

BinaryFloat splitFloat(uint64_t bits, uint8_t kind) {
  FloatFormat format = formatOf(kind);
  uint64_t fraction = bits & ((1ull << format.mantissaBits) - 1);
  uint64_t exponentMask = (1ull << format.exponentBits) - 1;
  uint64_t exponent = bits >> format.mantissaBits & exponentMask;
  int32_t bias = static_cast<int32_t>(exponentMask >> 1) + format.mantissaBits;
  BinaryFloat out;
  out.negative = bits >> (format.mantissaBits + format.exponentBits) & 1;
  if (exponent == exponentMask && format.infinite) {
    out.kind = fraction ? BinaryFloat::Nan : BinaryFloat::Infinite;
    return out;
  }
  if (exponent == exponentMask && fraction == (1ull << format.mantissaBits) - 1) {
    out.kind = BinaryFloat::Nan;
    return out;
  }
  if (exponent == 0) {
    out.mantissa = fraction;
    out.exponent = 1 - bias;
    return out;
  }
  out.mantissa = fraction | 1ull << format.mantissaBits;
  out.exponent = static_cast<int32_t>(exponent) - bias;
  out.lowerIsCloser = fraction == 0 && exponent > 1;
  return out;
}

void shortestDigits(const BinaryFloat& value, Decimal& out) {
  out.count = 0;
  out.point = 0;
  if (value.mantissa == 0) return;
  // numerator/denominator is the value, low and high over denominator are half the distances to its
  // neighbours.
  Ratio ratio;
  BigNumber low, high;
  int32_t point = estimatePoint(value);
  setRatio(value, point, ratio);
  uint32_t extra = value.lowerIsCloser ? 2 : 1;
  ratio.numerator.shiftLeft(extra);
  ratio.denominator.shiftLeft(extra);
  low.set(1);
  if (value.exponent > 0) low.shiftLeft(static_cast<uint32_t>(value.exponent));
  if (point < 0) low.multiplyPower10(static_cast<uint32_t>(-point));
  high = low;
  if (value.lowerIsCloser) high.shiftLeft(1);
  bool even = (value.mantissa & 1) == 0;
  auto reachesOne = [&] { // value + high >= 1 (or > 1 if the bound does not count)
    int order = BigNumber::compareSum(ratio.numerator, high, ratio.denominator);
    return even ? order >= 0 : order > 0;
  };
  if (reachesOne()) {
    point++;
    ratio.denominator.multiply(10);
  }
  out.point = point;
  for (;;) {
    low.multiply(10);
    high.multiply(10);
    int digit = takeDigit(ratio);
    int lowOrder = ratio.numerator.compare(low);
    bool lowEnough = even ? lowOrder <= 0 : lowOrder < 0;
    bool highEnough = reachesOne();
    if (!lowEnough && !highEnough) {
      out.digits[out.count++] = static_cast<char>('0' + digit);
      continue;
    }
    bool up = highEnough;
    if (lowEnough && highEnough) {
      ratio.numerator.shiftLeft(1);
      int order = ratio.numerator.compare(ratio.denominator);
      up = order > 0 || (order == 0 && (digit & 1));
    }
    out.digits[out.count++] = static_cast<char>('0' + digit);
    if (up) roundUp(out);
    dropTrailingZeros(out);
    return;
  }
}

void roundedDigits(const BinaryFloat& value, int32_t places, Decimal& out) {
  exactDigits(value, places, false, out);
}

void significantDigits(const BinaryFloat& value, int32_t count, Decimal& out) {
  exactDigits(value, count, true, out);
}

} // namespace melix::runtime
