#pragma once
// The characters of UTF-8 text as an editor sees them: the steps of a cursor, and the columns that they fill.

#include <cstddef>
#include <string>
#include <string_view>

namespace melix {

/// Whether a byte is not the first one of its code point.
inline bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// A code point of text at a byte, and how many bytes it has. A byte that begins none is one of its own,
/// U+FFFD.
struct CodePoint {
  char32_t value;
  size_t bytes;
};
CodePoint codePointAt(std::string_view text, size_t at);

/// The columns of a terminal that a code point fills: 0 of one that combines with the one before it, 2 of a
/// wide one.
size_t columnsOf(char32_t value);
size_t columnsOf(std::string_view text);

/// The byte after the character at `at`, or where the character before `at` begins. A character is a code
/// point with all that combines with it.
size_t characterAfter(std::string_view text, size_t at);
size_t characterBefore(std::string_view text, size_t at);

/// Whether a character belongs to a word: letters, digits, `_`, and all beyond ASCII.
bool isOfWord(char c);

/// The text without bytes that are no UTF-8 and without control characters but newlines; tabs are two spaces.
std::string printable(std::string_view text);

} // namespace melix
