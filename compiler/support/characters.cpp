#include "support/characters.h"

#include <clocale>
#include <cwchar>

namespace melix {
namespace {

constexpr char32_t joiner = 0x200D;
constexpr char32_t unreadable = 0xFFFD;

size_t lengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

/// The tables of the C library are those of a locale: that of UTF-8 is there without any package.
bool hasTables() {
  static const bool has = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  return has;
}

bool combines(std::string_view text, size_t at) { return columnsOf(codePointAt(text, at).value) == 0; }

} // namespace

CodePoint codePointAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t bytes = lengthOf(first);
  if (bytes == 1) return {first, 1};
  if (bytes == 0 || at + bytes > text.size()) return {unreadable, 1};
  char32_t value = first & (0x7Fu >> bytes);
  for (size_t k = 1; k < bytes; ++k) {
    if (!isContinuation(text[at + k])) return {unreadable, 1};
    value = (value << 6) | (static_cast<unsigned char>(text[at + k]) & 0x3F);
  }
  const bool isTooLong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool isNone = (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF;
  return isTooLong || isNone ? CodePoint{unreadable, 1} : CodePoint{value, bytes};
}

size_t columnsOf(char32_t value) {
  if (value >= 0x20 && value < 0x7F) return 1;
  if (value == joiner || (value >= 0xFE00 && value <= 0xFE0F)) return 0;
  if (!hasTables()) return 1;
  const int columns = wcwidth(static_cast<wchar_t>(value));
  return columns < 0 ? 1 : static_cast<size_t>(columns);
}

size_t columnsOf(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = codePointAt(text, at);
    columns += columnsOf(point.value);
    at += point.bytes;
  }
  return columns;
}

size_t characterAfter(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  bool isJoined = false;
  do {
    const CodePoint point = codePointAt(text, at);
    isJoined = point.value == joiner;
    at += point.bytes;
  } while (at < text.size() && text[at] != '\n' && (isJoined || combines(text, at)));
  return at;
}

size_t characterBefore(std::string_view text, size_t at) {
  // The line is walked from its start: what combines tells only after what it combines with.
  size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  if (begin >= at) return at == 0 ? 0 : at - 1;
  for (size_t next = characterAfter(text, begin); next < at; next = characterAfter(text, begin)) begin = next;
  return begin;
}

bool isOfWord(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
         (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = codePointAt(text, at);
    if (point.value == '\t')
      out += "  ";
    else if (point.value == '\n' ||
             (point.value >= 0x20 && point.value != 0x7F && point.value != unreadable &&
              !(point.value >= 0x80 && point.value < 0xA0)))
      out += text.substr(at, point.bytes);
    at += point.bytes;
  }
  return out;
}

} // namespace melix
