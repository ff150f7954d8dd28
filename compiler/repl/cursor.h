#pragma once
// Where the cursor stands in an entry that is being typed, by the tokens before it. The entry may be broken,
// and need not be UTF-8.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace melix::repl {

/// Bytes of a text.
struct Part {
  size_t begin = 0, end = 0;
  bool isEmpty() const { return begin == end; }
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// A call whose bracket is open at the cursor.
struct OpenCall {
  Part name;                       ///< of the function; empty: there is no such call
  Part receiver;                   ///< before `.name`; empty: there is none
  std::vector<std::string> labels; ///< of the arguments before the one at the cursor
  size_t positional = 0;           ///< how many of these have no label
  std::string label;               ///< of the argument at the cursor; empty: none
};

enum class CursorPlace : uint8_t {
  Nowhere, ///< in a comment, a number, a character, a text with more than one part
  Name,    ///< in a name or where one may begin
  Member,  ///< the same, after a point
  Text,    ///< in a text that is the whole of an argument so far
  RawText, ///< in one without escapes
};

struct Cursor {
  CursorPlace place = CursorPlace::Nowhere;
  size_t begin = 0;             ///< of the name or text at the cursor
  Part receiver;                ///< of a member: the expression before the point; empty: it has none
  bool isArgumentBegin = false; ///< nothing but the name is in its argument
  OpenCall call;
  std::string closing; ///< the brackets and quotes missing at the cursor
  /// Checking the text before the cursor would run macros, evaluate constants or read modules.
  bool isActive = false;
  std::vector<std::string> words; ///< names before the cursor, the last ones
};

/// Takes time and memory in proportion to the text before the cursor.
Cursor cursorIn(const std::string& text, size_t cursor);

} // namespace melix::repl
