#include "parse_number.h"

#include "builtins.h"

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

/// Digits, a point, an exponent: what strtod reads of decimal numbers, and nothing else of what it reads.
bool isDecimalFloat(MelixStr text) {
  int64_t at = 0;
  auto digits = [&] {
    int64_t first = at;
    while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9') at++;
    return at - first;
  };
  auto sign = [&] { at += at < text.len && (text.data[at] == '-' || text.data[at] == '+'); };
  sign();
  int64_t count = digits();
  if (at < text.len && text.data[at] == '.') {
    at++;
    count += digits();
  }
  if (count == 0) return false;
  if (at < text.len && (text.data[at] | 0x20) == 'e') {
    at++;
    sign();
    if (digits() == 0) return false;
  }
  return at == text.len;
}

uint64_t bitsOf(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Whole numbers below 2^53 need no rounding; they are most of what tables hold.
bool smallWhole(MelixStr text, double& value) {
  bool negative = text.len > 0 && text.data[0] == '-';
  int64_t at = negative ? 1 : 0;
  if (text.len - at < 1 || text.len - at > 15) return false;
  int64_t whole = 0;
  for (; at < text.len; at++) {
    if (text.data[at] < '0' || text.data[at] > '9') return false;
    whole = whole * 10 + (text.data[at] - '0');
  }
  value = negative ? -static_cast<double>(whole) : static_cast<double>(whole);
  return true;
}

/// strtod wants a terminator.
struct Terminated {
  char small[128];
  char* text;
  explicit Terminated(MelixStr s) : text(small) {
    if (s.len >= static_cast<int64_t>(sizeof small))
      text = static_cast<char*>(malloc(static_cast<size_t>(s.len) + 1));
    if (!text) {
      text = small;
      s.len = 0;
    }
    memcpy(text, s.data, static_cast<size_t>(s.len));
    text[s.len] = 0;
  }
  ~Terminated() {
    if (text != small) free(text);
  }
};

} // namespace

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

double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double mantissa = bits & 1023;
  double magnitude = exponent == 31
                         ? ((bits & 1023) ? static_cast<double>(NAN) : static_cast<double>(INFINITY))
                     : exponent == 0 ? ldexp(mantissa, -24)
                                     : ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

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
    if (digit >= base) return isDecimalFloat(text) ? ParseStatus::NoInteger : ParseStatus::NoNumber;
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
  double value;
  if (!smallWhole(text, value)) {
    MelixStr word = text;
    bool sign = word.len > 0 && (word.data[0] == '-' || word.data[0] == '+');
    word.data += sign;
    word.len -= sign;
    bool negative = sign && text.data[0] == '-';
    if (equalsWord(word, "inf") || equalsWord(word, "infinity")) {
      value = negative ? -static_cast<double>(INFINITY) : static_cast<double>(INFINITY);
    } else if (equalsWord(word, "nan")) {
      value = static_cast<double>(NAN);
    } else if (!isDecimalFloat(text)) {
      return ParseStatus::NoNumber;
    } else {
      Terminated copy(text);
      if (kind == MELIX_KIND_F32) {
        float single = strtof(copy.text, nullptr);
        uint32_t low;
        memcpy(&low, &single, sizeof low);
        bits = low;
        return ParseStatus::Ok;
      }
      value = strtod(copy.text, nullptr);
    }
  }
  if (kind == MELIX_KIND_F64) {
    bits = bitsOf(value);
  } else if (kind == MELIX_KIND_F32) {
    auto single = static_cast<float>(value);
    uint32_t low;
    memcpy(&low, &single, sizeof low);
    bits = low;
  } else {
    bits = kind == MELIX_KIND_F16 ? roundToHalf(value, 10, 5) : roundToHalf(value, 7, 8);
  }
  return ParseStatus::Ok;
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
