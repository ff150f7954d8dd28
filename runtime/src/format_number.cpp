// Format specifications and the text of scalars.
#include "decimal.h"
#include "fmt_digits.h"
#include "format.h"
#include "melix/format_limits.h"

#include <math.h>

namespace melix::runtime {

namespace {

/// Numbers with a decimal exponent in [-5, 16) print without one.
constexpr int32_t leastPlain = -5, firstBig = 16;

bool isFloatKind(uint8_t kind) { return kind >= MELIX_KIND_F16 && kind <= MELIX_KIND_F8E5M2; }
bool isIntKind(uint8_t kind) { return kind >= MELIX_KIND_I8 && kind <= MELIX_KIND_U64; }
bool isSigned(uint8_t kind) { return kind >= MELIX_KIND_I8 && kind <= MELIX_KIND_I64; }

void pad(TextBuffer& out, uint32_t fill, int64_t count) {
  for (; count > 0; count--) out.addChar(fill);
}

/// `sign` (may be empty) and `body`, aligned; zeros go between them.
void addPadded(TextBuffer& out, const FormatSpec& spec, const char* sign, const uint8_t* body, int64_t len,
               bool number) {
  int64_t chars = static_cast<int64_t>(strlen(sign)) + countChars(body, len);
  int64_t room = spec.width > chars ? spec.width - chars : 0;
  if (number && spec.zero && !spec.align) {
    out.add(sign);
    pad(out, '0', room);
    out.add(body, len);
    return;
  }
  char align = spec.align ? spec.align : number ? '>' : '<';
  int64_t before = align == '<' ? 0 : align == '>' ? room : room / 2;
  pad(out, spec.fill, before);
  out.add(sign);
  out.add(body, len);
  pad(out, spec.fill, room - before);
}

const char* signText(bool negative, const FormatSpec& spec) { return negative ? "-" : spec.plus ? "+" : ""; }

void addZeros(TextBuffer& out, int32_t count) { pad(out, '0', count); }

/// Digits with a point: at least `places` behind it, and exactly that many if the decimal was rounded there.
void addPlain(TextBuffer& out, const Decimal& d, int32_t places) {
  if (d.count == 0 || d.point <= 0) {
    out.addByte('0');
  } else {
    int32_t whole = d.point < d.count ? d.point : d.count;
    out.add(d.digits, whole);
    addZeros(out, d.point - whole);
  }
  int32_t first =
      d.count == 0 ? 0 : d.point; // index of the first digit behind the point; negative: zeros in front
  int32_t have = d.count - (first > 0 ? first : 0);
  int32_t zeros = d.count == 0 ? 0 : first < 0 ? -first : 0;
  int32_t behind = d.count == 0 ? 0 : zeros + (have > 0 ? have : 0);
  if (behind == 0 && places <= 0) return;
  out.addByte('.');
  addZeros(out, zeros);
  if (have > 0) out.add(d.digits + (first > 0 ? first : 0), have);
  addZeros(out, places - behind);
}

void addExponent(TextBuffer& out, const Decimal& d, int32_t places) {
  out.addByte(d.count ? d.digits[0] : '0');
  int32_t behind = d.count > 1 ? d.count - 1 : 0;
  if (behind > 0 || places > 0) {
    out.addByte('.');
    out.add(d.digits + 1, behind);
    addZeros(out, places - behind);
  }
  out.addByte('e');
  out.addInt(d.count ? d.point - 1 : 0);
}

/// The most bytes of the printed form without a sign: "0.0000" and 17 digits.
constexpr int64_t longestPrinted = 24;

char* writeZeros(char* to, int32_t count) {
  for (; count > 0; count--) *to++ = '0';
  return to;
}

/// `count` digits with the point at `point`, which may lie outside of them.
char* writePlain(char* to, uint64_t significand, int32_t count, int32_t point) {
  if (point <= 0) {
    *to++ = '0';
    *to++ = '.';
    return writeWhole(writeZeros(to, -point), significand, count);
  }
  if (point < count) return writePointed(to, significand, count, point);
  to = writeZeros(writeWhole(to, significand, count), point - count);
  *to++ = '.';
  *to++ = '0';
  return to;
}

char* writeExponent(char* to, uint64_t significand, int32_t count, int32_t exponent) {
  to = count > 1 ? writePointed(to, significand, count, 1) : writeWhole(to, significand, count);
  *to++ = 'e';
  if (exponent < 0) *to++ = '-';
  const auto magnitude = static_cast<uint64_t>(exponent < 0 ? -exponent : exponent);
  return writeWhole(to, magnitude, digitCount(magnitude));
}

/// The printed form of shortest digits: with a point or an exponent.
void addShortest(TextBuffer& out, ShortDigits digits) {
  if (digits.significand == 0) return out.add("0.0");
  if (!out.reserve(longestPrinted)) return;
  const int32_t count = digitCount(digits.significand), exponent = count - 1 + digits.exponent;
  auto* begin = reinterpret_cast<char*>(out.data + out.len);
  const bool isPlain = leastPlain <= exponent && exponent < firstBig;
  out.len += (isPlain ? writePlain(begin, digits.significand, count, exponent + 1)
                      : writeExponent(begin, digits.significand, count, exponent)) -
             begin;
}

/// significand · 10^-places, with that many digits behind the point.
void addFixed(TextBuffer& out, uint64_t significand, int32_t places) {
  if (places == 0) return out.addUnsigned(significand);
  if (!out.reserve(longestPrinted + places)) return;
  auto* begin = reinterpret_cast<char*>(out.data + out.len);
  const int32_t count = digitCount(significand);
  out.len += writePlain(begin, significand, count, count - places) - begin;
}

char notationOf(const FormatSpec& spec) { return spec.letter ? spec.letter : spec.digits >= 0 ? 'f' : 0; }

/// How many significant digits `e` and `g` ask for.
int32_t significantAsked(const FormatSpec& spec) {
  return spec.letter == 'e' ? spec.digits + 1 : spec.digits ? spec.digits : 1;
}

/// Digits in the notation that is asked for, which is not the printed form.
void addDigits(TextBuffer& out, Decimal& d, const FormatSpec& spec) {
  const char notation = notationOf(spec);
  const int32_t places = spec.digits < 0 ? 0 : spec.digits;
  if (notation == '%') d.point += d.count ? 2 : 0;
  if (notation == 'e')
    addExponent(out, d, places);
  else if (notation != 'g')
    addPlain(out, d, places);
  else if (spec.digits >= 0 && d.count && (d.point - 1 < leastPlain || d.point > places))
    addExponent(out, d, 0);
  else
    addPlain(out, d, 0);
  if (notation == '%') out.addByte('%');
}

/// The magnitude of a finite float.
void addMagnitude(TextBuffer& out, const FloatValue& value, const FormatSpec& spec) {
  const char notation = notationOf(spec);
  const bool isPercent = notation == '%', isFixed = isPercent || notation == 'f';
  if (spec.digits < 0 && (!notation || notation == 'g')) return addShortest(out, shortestDigits(value));
  const int32_t places = spec.digits + (isPercent ? 2 : 0);
  ShortDigits fixed;
  if (spec.digits >= 0 && isFixed && roundedShort(value.magnitude, places, fixed)) {
    addFixed(out, fixed.significand, spec.digits);
    if (isPercent) out.addByte('%');
    return;
  }
  Decimal d;
  if (spec.digits < 0)
    setDigits(shortestDigits(value), d);
  else if (isFixed)
    roundedDigits(value.magnitude, places, d);
  else
    significantDigits(value.magnitude, significantAsked(spec), d);
  addDigits(out, d, spec);
}

void formatFloat(TextBuffer& out, const FloatValue& value, const FormatSpec& spec) {
  const bool isNan = isnan(value.magnitude); // a NaN has no sign
  const char* sign = signText(value.negative && !isNan, spec);
  if (isNan || isinf(value.magnitude)) {
    FormatSpec used = spec;
    used.zero = false;
    return addPadded(out, used, sign, reinterpret_cast<const uint8_t*>(isNan ? "nan" : "inf"), 3, true);
  }
  if (spec.width == 0) {
    if (*sign) out.addByte(*sign);
    return addMagnitude(out, value, spec);
  }
  ScopedBuffer body;
  addMagnitude(body, value, spec);
  addPadded(out, spec, sign, body.data, body.len, true);
}

/// An integer in a notation of floats. Its digits are exact.
void formatIntAsFloat(TextBuffer& out, bool negative, uint64_t magnitude, const FormatSpec& spec) {
  ShortDigits digits{magnitude, 0};
  if (spec.digits >= 0 && (spec.letter == 'e' || spec.letter == 'g'))
    roundDigits(digits, digitCount(magnitude) - significantAsked(spec));
  Decimal d;
  setDigits(digits, d);
  ScopedBuffer body;
  addDigits(body, d, spec);
  addPadded(out, spec, signText(negative, spec), body.data, body.len, true);
}

template <class Bits>
uint64_t load(const void* value) {
  Bits bits;
  memcpy(&bits, value, sizeof bits);
  return bits;
}

uint64_t loadBits(const void* value, uint8_t kind) {
  switch (melix_scalar_types[kind].size) {
  case 1: return load<uint8_t>(value);
  case 2: return load<uint16_t>(value);
  case 4: return load<uint32_t>(value);
  default: return load<uint64_t>(value);
  }
}

void formatInt(TextBuffer& out, uint8_t kind, uint64_t bits, const FormatSpec& spec) {
  uint64_t magnitude = bits;
  bool negative = false;
  if (isSigned(kind)) {
    unsigned unused = 64 - 8 * melix_scalar_types[kind].size;
    int64_t value = static_cast<int64_t>(bits << unused) >> unused;
    negative = value < 0;
    magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  }
  if (spec.empty()) {
    if (negative) out.addByte('-');
    return out.addUnsigned(magnitude);
  }
  if ((spec.letter && spec.letter != 'x' && spec.letter != 'b') || spec.digits >= 0)
    return formatIntAsFloat(out, negative, magnitude, spec);
  char digits[64];
  int at = 64;
  unsigned base = spec.letter == 'x' ? 16 : spec.letter == 'b' ? 2 : 10;
  do {
    digits[--at] = "0123456789abcdef"[magnitude % base];
    magnitude /= base;
  } while (magnitude);
  addPadded(out, spec, signText(negative, spec), reinterpret_cast<uint8_t*>(digits) + at, 64 - at, true);
}

void addQuotedChar(TextBuffer& out, uint32_t c, char quote) {
  if (c < 0x20 || c == 0x7f) return out.addEscaped(c);
  if (c == '\\' || c == static_cast<uint32_t>(quote)) out.addByte('\\');
  out.addChar(c);
}

void addQuotedText(TextBuffer& out, MelixStr text) {
  out.addByte('"');
  for (int64_t i = 0; i < text.len;) {
    uint32_t c;
    int n = decodeChar(text.data + i, text.len - i, c);
    if (n == 0) {
      c = 0xfffd;
      n = 1;
    }
    addQuotedChar(out, c, '"');
    i += n;
  }
  out.addByte('"');
}

/// The first `chars` chars.
int64_t prefixBytes(MelixStr text, int64_t chars) {
  int64_t i = 0;
  for (; i < text.len; i++) {
    if ((text.data[i] & 0xc0) != 0x80 && chars-- == 0) return i;
  }
  return i;
}

void formatText(TextBuffer& out, MelixStr text, const FormatSpec& spec, bool quoted) {
  if (spec.digits >= 0) text.len = prefixBytes(text, spec.digits);
  if (!quoted) return addPadded(out, spec, "", text.data, text.len, false);
  ScopedBuffer body;
  addQuotedText(body, text);
  addPadded(out, spec, "", body.data, body.len, false);
}

void formatChar(TextBuffer& out, uint32_t c, const FormatSpec& spec, bool quoted) {
  ScopedBuffer body;
  if (quoted) body.addByte('\'');
  if (quoted)
    addQuotedChar(body, c, '\'');
  else
    body.addChar(c);
  if (quoted) body.addByte('\'');
  addPadded(out, spec, "", body.data, body.len, false);
}

void formatComplex(TextBuffer& out, uint8_t kind, const void* value, const FormatSpec& spec) {
  uint8_t part = kind == MELIX_KIND_C64 ? MELIX_KIND_F32 : MELIX_KIND_F64;
  auto* bytes = static_cast<const uint8_t*>(value);
  FormatSpec parts = spec;
  parts.width = 0;
  ScopedBuffer body;
  formatFloat(body, floatFromBits(loadBits(bytes, part), part), parts);
  FloatValue imaginary = floatFromBits(loadBits(bytes + melix_scalar_types[part].size, part), part);
  bool minus = imaginary.negative && !isnan(imaginary.magnitude);
  imaginary.negative = false;
  parts.plus = false;
  body.add(minus ? " - " : " + ");
  formatFloat(body, imaginary, parts);
  body.addByte('i');
  addPadded(out, spec, "", body.data, body.len, true);
}

} // namespace

const char* parseSpec(const uint8_t* text, int64_t len, const int64_t* numbers, FormatSpec& out) {
  out = {};
  int64_t at = 0;
  auto isAlign = [&](int64_t k) { return k < len && (text[k] == '<' || text[k] == '^' || text[k] == '>'); };
  uint32_t fill;
  int n = decodeChar(text, len, fill);
  if (n > 0 && isAlign(n)) {
    out.fill = fill;
    out.align = static_cast<char>(text[n]);
    at = n + 1;
  } else if (isAlign(0)) {
    out.align = static_cast<char>(text[0]);
    at = 1;
  }
  if (at < len && text[at] == '+') {
    out.plus = true;
    at++;
  }
  if (at < len && text[at] == '0') {
    out.zero = true;
    at++;
  }
  auto number = [&](int32_t& value, int32_t most) {
    int64_t first = at;
    value = 0;
    if (numbers && at + 1 < len && text[at] == '{' && text[at + 1] == '}') {
      at += 2;
      int64_t given = *numbers++;
      value = given < 0 || given > most ? most + 1 : static_cast<int32_t>(given);
      return true;
    }
    for (; at < len && text[at] >= '0' && text[at] <= '9'; at++)
      value = value > most ? value : value * 10 + (text[at] - '0');
    return at > first;
  };
  number(out.width, MELIX_FORMAT_WIDTH);
  if (at < len && text[at] == '.') {
    at++;
    if (!number(out.digits, MELIX_FORMAT_DIGITS)) return "`.` needs a number of digits";
  }
  if (at < len && memchr("efgxb%", text[at], 6)) out.letter = static_cast<char>(text[at++]);
  if (at < len) return "expected `[[fill]<^>][+][0][width][.digits][e|f|g|x|b|%]`";
  if (out.width > MELIX_FORMAT_WIDTH) return "the width is too large";
  if (out.digits > MELIX_FORMAT_DIGITS) return "there are too many digits";
  return nullptr;
}

const char* checkSpec(const FormatSpec& spec, uint8_t kind) {
  bool hex = spec.letter == 'x' || spec.letter == 'b';
  bool complex = kind == MELIX_KIND_C64 || kind == MELIX_KIND_C128;
  if (isIntKind(kind)) return hex && spec.digits >= 0 ? "`.digits` does not go with `x` and `b`" : nullptr;
  if (isFloatKind(kind) || complex) return hex ? "`x` and `b` are for integers" : nullptr;
  if (kind <= MELIX_KIND_CHAR || kind == MELIX_KIND_STR) {
    if (spec.letter) return "this letter is for numbers";
    if (spec.plus || spec.zero) return "`+` and `0` are for numbers";
  }
  return nullptr;
}

void formatScalar(TextBuffer& out, uint8_t kind, const void* value, const FormatSpec& spec, bool quoted) {
  if (isIntKind(kind)) return formatInt(out, kind, loadBits(value, kind), spec);
  if (isFloatKind(kind)) return formatFloat(out, floatFromBits(loadBits(value, kind), kind), spec);
  auto addWord = [&](const char* word) {
    addPadded(out, spec, "", reinterpret_cast<const uint8_t*>(word), static_cast<int64_t>(strlen(word)),
              false);
  };
  switch (kind) {
  case MELIX_KIND_UNIT: return addWord("()");
  case MELIX_KIND_BOOL: return addWord(*static_cast<const uint8_t*>(value) ? "true" : "false");
  case MELIX_KIND_CHAR: return formatChar(out, static_cast<uint32_t>(loadBits(value, kind)), spec, quoted);
  case MELIX_KIND_C64:
  case MELIX_KIND_C128: return formatComplex(out, kind, value, spec);
  case MELIX_KIND_STR: return formatText(out, *static_cast<const MelixStr*>(value), spec, quoted);
  default: return;
  }
}

} // namespace melix::runtime

const char* melix_check_format(const uint8_t* text, int64_t len, int32_t kind) {
  melix::runtime::FormatSpec spec;
  const char* wrong = melix::runtime::parseSpec(text, len, nullptr, spec);
  return wrong ? wrong : melix::runtime::checkSpec(spec, static_cast<uint8_t>(kind));
}
