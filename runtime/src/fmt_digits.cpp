#include "fmt_digits.h"

// Their own checks end the program without a word: what they would print or throw needs the C++ library.
#define NDEBUG 1
#define FMT_HEADER_ONLY 1
#define FMT_STATIC_THOUSANDS_SEPARATOR ','
#define FMT_ASSERT(condition, message) ((condition) ? (void)0 : __builtin_trap())
#include <fmt/format.h>

#include <fast_float/fast_float.h>

namespace melix::runtime {

namespace {

template <class Float>
ShortDigits shortest(Float value) {
  const auto digits = fmt::detail::dragonbox::to_decimal(value);
  return {digits.significand, digits.exponent};
}

/// fast_float reads `inf` and `nan` too, which are for callers to allow.
template <class Float>
const char* read(const char* begin, const char* end, Float& value) {
  if (begin == end) return begin;
  const char* digit = begin + (*begin == '-');
  if (digit == end || ((*digit < '0' || *digit > '9') && *digit != '.')) return begin;
  return fast_float::from_chars(begin, end, value).ptr;
}

} // namespace

ShortDigits shortDigits(double value) { return shortest(value); }
ShortDigits shortDigits(float value) { return shortest(value); }

int digitCount(uint64_t value) { return fmt::detail::count_digits(value); }

char* writeWhole(char* to, uint64_t value, int count) {
  return fmt::detail::format_decimal(to, value, count).end;
}

char* writePointed(char* to, uint64_t value, int count, int whole) {
  return fmt::detail::write_significand(to, value, count, whole, '.');
}

uint64_t powerOfTen(int exponent) {
  static constexpr uint64_t powers[] = {1, FMT_POWERS_OF_10(1ull), FMT_POWERS_OF_10(1000000000ull),
                                        10000000000000000000ull};
  return powers[exponent];
}

const char* readDecimal(const char* begin, const char* end, double& value) { return read(begin, end, value); }
const char* readDecimal(const char* begin, const char* end, float& value) { return read(begin, end, value); }

} // namespace melix::runtime
