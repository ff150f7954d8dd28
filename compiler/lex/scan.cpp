#include "lex/scan.h"

#include <cstdio>

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

} // namespace

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
  auto takeNumber = [&](int most) {
    if (f.starts_with("{}")) return f.remove_prefix(2), true;
    int digits = 0;
    while (digits < most && take("0123456789")) ++digits;
    return digits > 0;
  };
  take("+");
  take("0");
  takeNumber(4);
  if (take(".") && !takeNumber(2)) return false;
  take("efgxb%");
  return f.empty();
}

bool Scanner::checkUtf8() {
  for (size_t k = 0; k < text_.size();) {
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
  return !(peek() == '.' && peek(1) != '.' && !isNameStart(peek(1)));
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
