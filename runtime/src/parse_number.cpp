#include "parse_number.h"

#include "builtins.h"
#include "fmt_digits.h"

#include <math.h>

namespace melix::runtime {

namespace {

int digitValue(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool equalsWord(MelixStr text, const char* word) {
  int64_t len = static_cast<int64_t>(strlen(word));
  if (text.len != len) return false;
  for (int64_t k = 0; k < len; k++) {
    if ((text.data[k] | 0x20) != word[k]) return false;
  }
  return true;
}

/// The decimal number that is the whole text, with a sign in front or not.
template <class Float>
bool readSigned(MelixStr text, Float& value) {
  auto* begin = reinterpret_cast<const char*>(text.data);
  const bool plus = text.len > 1 && text.data[0] == '+' && text.data[1] != '-';
  return text.len > 0 && readDecimal(begin + plus, begin + text.len, value) == begin + text.len;
}

uint64_t bitsOf(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// `inf` and `nan`, in any case, with a sign or not.
bool readSpecial(MelixStr text, double& value) {
  const bool isSigned = text.len > 0 && (text.data[0] == '-' || text.data[0] == '+');
  const MelixStr word = {text.data + isSigned, text.len - isSigned};
  const bool isInfinity = equalsWord(word, "inf") || equalsWord(word, "infinity");
  if (!isInfinity && !equalsWord(word, "nan")) return false;
  value = isInfinity ? static_cast<double>(INFINITY) : static_cast<double>(NAN);
  if (isInfinity && text.data[0] == '-') value = -value;
  return true;
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The nearest f16 / bf16 of a double, ties to even.
uint16_t roundToHalf(double value, int mantissaBits, int exponentBits) {
  uint64_t bits = bitsOf(value);
  auto sign = static_cast<uint16_t>(bits >> 63 << 15);
  auto exponent = static_cast<int64_t>(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((1ull << 52) - 1);
  auto infinity = static_cast<uint16_t>(((1u << exponentBits) - 1) << mantissaBits);
  if (exponent == 0x7ff)
    return static_cast<uint16_t>(sign | infinity | (mantissa ? 1u << (mantissaBits - 1) : 0));
  int64_t bias = (1 << (exponentBits - 1)) - 1;
  int64_t target = exponent - 1023 + bias;
  mantissa |= exponent ? 1ull << 52 : 0;
  int64_t drop = 52 - mantissaBits + (target <= 0 ? 1 - target : 0);
  if (drop > 54) return sign;
  uint64_t kept = mantissa >> drop;
  uint64_t rest = mantissa & ((1ull << drop) - 1), half = 1ull << (drop - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // A carry out of the mantissa raises the exponent by itself.
  uint64_t result = target <= 0 ? kept : kept + (static_cast<uint64_t>(target - 1) << mantissaBits);
  return static_cast<uint16_t>(sign |
                               (target >= (1 << exponentBits) - 1 || result > infinity ? infinity : result));
}

} // namespace

ParseStatus parseInteger(MelixStr text, uint8_t kind, uint64_t& bits) {
  int64_t at = 0;
  bool negative = text.len > 0 && text.data[0] == '-';
  if (text.len > 0 && (negative || text.data[0] == '+')) at++;
  int base = 10;
  if (text.len - at > 2 && text.data[at] == '0') {
    uint8_t mark = text.data[at + 1];
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : mark == 'o' ? 8 : 10;
    at += base != 10 ? 2 : 0;
  }
  if (at == text.len) return ParseStatus::NoNumber;
  uint64_t value = 0;
  bool overflow = false;
  for (; at < text.len; at++) {
    int digit = digitValue(text.data[at]);
    if (digit >= base) {
      double number;
      return readSigned(text, number) ? ParseStatus::NoInteger : ParseStatus::NoNumber;
    }
    overflow |= __builtin_mul_overflow(value, static_cast<uint64_t>(base), &value);
    overflow |= __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value);
  }
  unsigned width = 8 * melix_scalar_types[kind].size;
  bool isSigned = kind <= MELIX_KIND_I64;
  uint64_t most = isSigned      ? (1ull << (width - 1)) - (negative ? 0 : 1)
                  : width == 64 ? UINT64_MAX
                                : (1ull << width) - 1;
  if (overflow || value > most || (negative && !isSigned && value != 0)) return ParseStatus::TooLarge;
  bits = negative ? 0 - value : value;
  return ParseStatus::Ok;
}

ParseStatus parseFloat(MelixStr text, uint8_t kind, uint64_t& bits) {
  if (kind == MELIX_KIND_F32) {
    float single;
    if (readSigned(text, single)) {
      bits = bitsOf(single);
      return ParseStatus::Ok;
    }
  }
  double value;
  if (!readSigned(text, value) && !readSpecial(text, value)) return ParseStatus::NoNumber;
  switch (kind) {
  case MELIX_KIND_F64: bits = bitsOf(value); break;
  case MELIX_KIND_F32: bits = bitsOf(static_cast<float>(value)); break;
  case MELIX_KIND_F16: bits = roundToHalf(value, 10, 5); break;
  default: bits = roundToHalf(value, 7, 8); break;
  }
  return ParseStatus::Ok;
}

template <class Float>
int64_t readFront(MelixStr text, void* out) {
  auto* begin = reinterpret_cast<const char*>(text.data);
  Float value = 0;
  const char* end = readDecimal(begin, begin + text.len, value);
  memcpy(out, &value, sizeof value);
  return end - begin;
}

int64_t parseFront(MelixStr text, uint8_t kind, void* out) {
  if (kind == MELIX_KIND_F64) return readFront<double>(text, out);
  if (kind == MELIX_KIND_F32) return readFront<float>(text, out);
  return 0;
}

ParseStatus parseScalar(MelixStr text, uint8_t kind, void* out) {
  uint64_t bits = 0;
  ParseStatus status = ParseStatus::NoNumber;
  if (kind == MELIX_KIND_BOOL) {
    bool yes = equalsWord(text, "true"), no = equalsWord(text, "false");
    if (!yes && !no) status = parseInteger(text, MELIX_KIND_U8, bits);
    if (yes || no || (status == ParseStatus::Ok && bits <= 1)) {
      bits |= yes;
      status = ParseStatus::Ok;
    } else {
      status = ParseStatus::NoNumber;
    }
  } else if (kind >= MELIX_KIND_I8 && kind <= MELIX_KIND_U64) {
    status = parseInteger(text, kind, bits);
  } else if (kind >= MELIX_KIND_F16 && kind <= MELIX_KIND_F64) {
    status = parseFloat(text, kind, bits);
  }
  if (status == ParseStatus::Ok) memcpy(out, &bits, melix_scalar_types[kind].size);
  return status;
}

} // namespace melix::runtime

using namespace melix::runtime;

void melix_parse_int(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[1] = 0;
  results[0] = parseInteger(strArg(args), MELIX_KIND_I64, results[1]) == ParseStatus::Ok;
}

void melix_parse_f32(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[1] = 0;
  results[0] = parseFloat(strArg(args), MELIX_KIND_F32, results[1]) == ParseStatus::Ok;
}

void melix_parse_f64(MelixTask*, const uint64_t* args, uint64_t* results) {
  results[1] = 0;
  results[0] = parseFloat(strArg(args), MELIX_KIND_F64, results[1]) == ParseStatus::Ok;
}
