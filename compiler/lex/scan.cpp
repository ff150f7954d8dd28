#include "lex/scan.h"

#include "melix/format_limits.h"

#include <cstdio>
#include <optional>

namespace melix::lex {

namespace {

/// Length of the UTF-8 sequence at `k`, or 0 if it is not well formed.
uint32_t sequenceLength(std::string_view text, size_t k) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto tail = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  unsigned b0 = byte(k), b1 = byte(k + 1);
  if (b0 < 0x80) return 1;
  if (b0 >= 0xc2 && b0 <= 0xdf) return tail(k + 1) ? 2 : 0;
  if (b0 >= 0xe0 && b0 <= 0xef) {
    bool ok = tail(k + 1) && tail(k + 2) && !(b0 == 0xe0 && b1 < 0xa0) && !(b0 == 0xed && b1 >= 0xa0);
    return ok ? 3 : 0;
  }
  if (b0 >= 0xf0 && b0 <= 0xf4) {
    bool ok = tail(k + 1) && tail(k + 2) && tail(k + 3) && !(b0 == 0xf0 && b1 < 0x90) &&
              !(b0 == 0xf4 && b1 >= 0x90);
    return ok ? 4 : 0;
  }
  return 0;
}

int digitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void appendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

/// The character at `k` of a text that is UTF-8.
uint32_t characterAt(std::string_view text, size_t k) {
  const uint32_t length = sequenceLength(text, k);
  uint32_t code = static_cast<unsigned char>(text[k]);
  if (length > 1) code &= 0x7fu >> length;
  for (uint32_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text[k + i]) & 0x3fu);
  return code;
}

struct CharacterRange {
  uint32_t first, last;
};
/// Unicode: controls, separators and format characters, which show nothing or a blank.
constexpr CharacterRange unseen[] = {{0x80, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},
                                     {0x1680, 0x1680}, {0x180e, 0x180e}, {0x2000, 0x200f},
                                     {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000},
                                     {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
/// Quotes, dashes and signs of arithmetic; primes may end a name.
constexpr CharacterRange signs[] = {{0xab, 0xab},     {0xbb, 0xbb},     {0xd7, 0xd7},     {0xf7, 0xf7},
                                    {0x2010, 0x2027}, {0x2030, 0x2031}, {0x2038, 0x203e}, {0x2212, 0x2212},
                                    {0x2260, 0x2260}, {0x2264, 0x2265}, {0x3001, 0x3002}};

template <size_t N>
bool holds(const CharacterRange (&ranges)[N], uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](CharacterRange range) { return range.first <= code && code <= range.last; });
}

} // namespace

uint32_t Scanner::nameStart(uint32_t ahead) const {
  const char c = peek(ahead);
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return 1;
  if (static_cast<unsigned char>(c) < 0x80) return 0;
  const uint32_t code = characterAt(text_, at_ + ahead);
  return holds(unseen, code) || holds(signs, code) ? 0 : sequenceLength(text_, at_ + ahead);
}

uint32_t Scanner::namePart() const { return peek() >= '0' && peek() <= '9' ? 1 : nameStart(); }

bool Scanner::skipName() {
  const uint32_t begin = at_;
  while (uint32_t length = namePart()) at_ += length;
  return at_ > begin;
}

std::string Scanner::unseenCharacter() const {
  if (atEnd() || static_cast<unsigned char>(peek()) < 0x80) return {};
  const uint32_t code = characterAt(text_, at_);
  if (!holds(unseen, code)) return {};
  char name[16];
  std::snprintf(name, sizeof name, "U+%04X", code);
  return name;
}

bool isFormat(std::string_view f) {
  auto isAlign = [](char c) { return c == '<' || c == '^' || c == '>'; };
  uint32_t first = f.empty() ? 0 : sequenceLength(f, 0);
  if (first > 0 && f.size() > first && isAlign(f[first]))
    f.remove_prefix(first + 1);
  else if (!f.empty() && isAlign(f[0]))
    f.remove_prefix(1);
  auto take = [&](std::string_view set) {
    bool taken = !f.empty() && set.find(f[0]) != std::string_view::npos;
    if (taken) f.remove_prefix(1);
    return taken;
  };
  auto takeNumber = [&]() -> std::optional<int> { // 0 where a value gives it
    if (f.starts_with("{}")) return f.remove_prefix(2), 0;
    std::optional<int> number;
    for (; !f.empty() && f[0] >= '0' && f[0] <= '9'; f.remove_prefix(1))
      number = std::min(number.value_or(0) * 10 + (f[0] - '0'), MELIX_FORMAT_WIDTH + 1);
    return number;
  };
  take("+");
  take("0");
  if (takeNumber().value_or(0) > MELIX_FORMAT_WIDTH) return false;
  if (take(".") && takeNumber().value_or(MELIX_FORMAT_DIGITS + 1) > MELIX_FORMAT_DIGITS) return false;
  take("efgxb%");
  return f.empty();
}

bool Scanner::checkUtf8() {
  for (size_t k = at_; k < text_.size();) {
    uint32_t length = sequenceLength(text_, k);
    if (length == 0) {
      char byte[8];
      std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text_[k]));
      auto at = static_cast<uint32_t>(k);
      sink_.report(DiagId::NotUtf8, span(at, at + 1), byte, std::to_string(k));
      at_ = static_cast<uint32_t>(text_.size());
      return false;
    }
    k += length;
  }
  return true;
}

void Scanner::skipPreamble() {
  if (at_ > 0) return;
  if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  if (peek() == '#' && peek(1) == '!') skipLine();
}

void Scanner::skipLine() {
  while (!atEnd() && peek() != '\n') advance();
}

bool Scanner::skipBlockComment() {
  uint32_t begin = at_, depth = 0;
  bool lines = false;
  do {
    if (atEnd()) {
      sink_.report(DiagId::UnclosedComment, span(begin, begin + 2));
      return lines;
    }
    if (peek() == '/' && peek(1) == '*') {
      ++depth;
      at_ += 2;
    } else if (peek() == '*' && peek(1) == '/') {
      --depth;
      at_ += 2;
    } else {
      lines |= peek() == '\n';
      advance();
    }
  } while (depth > 0);
  return lines;
}

bool Scanner::digitsOf(unsigned base) {
  auto isDigit = [&](char c) {
    int value = digitValue(c);
    return value >= 0 && static_cast<unsigned>(value) < base;
  };
  bool any = false;
  for (;; advance()) {
    bool between = any && peek() == '_' && isDigit(peek(1));
    if (!between && !isDigit(peek())) return any;
    any = true;
  }
}

bool Scanner::digits() { return digitsOf(10); }

bool Scanner::number(bool& isFloat) {
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'b' || peek(1) == 'o')) {
    unsigned base = peek(1) == 'x' ? 16 : peek(1) == 'b' ? 2 : 8;
    at_ += 2;
    return digitsOf(base);
  }
  digits();
  if (peek() == '.' && peek(1) >= '0' && peek(1) <= '9') {
    isFloat = true;
    advance();
    digits();
  }
  bool exponent = (peek() == 'e' || peek() == 'E') &&
                  ((peek(1) >= '0' && peek(1) <= '9') ||
                   ((peek(1) == '+' || peek(1) == '-') && peek(2) >= '0' && peek(2) <= '9'));
  if (exponent) {
    isFloat = true;
    at_ += 2;
    digits();
  }
  // `1.` is no number; `1..n`, `1.x` and `t.0.1` are other things.
  return !(peek() == '.' && peek(1) != '.' && nameStart(1) == 0);
}

void Scanner::rawCharacter(std::string& out) {
  uint32_t length = std::max(1u, sequenceLength(text_, at_));
  out += text_.substr(at_, length);
  at_ += length;
}

void Scanner::character(std::string& out) {
  if (peek() == '\\') return escape(out);
  if (peek() == '\r' && peek(1) == '\n') advance(); // a CRLF inside a string is a newline
  rawCharacter(out);
}

void Scanner::escape(std::string& out) {
  uint32_t begin = at_;
  advance();
  char c = peek();
  static constexpr std::string_view plain = "ntr0\\\"'{", values("\n\t\r\0\\\"'{", 8);
  if (size_t k = plain.find(c); k != std::string_view::npos && !atEnd()) {
    advance();
    out += values[k];
    return;
  }
  if (c == 'u' && peek(1) == '{') {
    at_ += 2;
    uint32_t code = 0, count = 0;
    for (; digitValue(peek()) >= 0 && count < 7; advance(), ++count)
      code = code * 16 + static_cast<uint32_t>(digitValue(peek()));
    bool ok = count > 0 && peek() == '}' && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (ok) {
      advance();
      return appendUtf8(out, code);
    }
    while (digitValue(peek()) >= 0) advance();
    if (peek() == '}') advance();
  } else if (!atEnd() && c != '\n') {
    std::string skipped;
    rawCharacter(skipped);
  }
  if (++badEscapes_ <= 20) sink_.report(DiagId::BadEscape, span(begin, at_), text(begin, at_));
}

} // namespace melix::lex
