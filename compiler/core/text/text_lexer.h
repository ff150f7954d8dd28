#pragma once
// Internal: splits the text of Core, and of languages that share its types, into tokens.

#include <string>
#include <string_view>
#include <vector>

namespace melix::core {

enum class TokenKind : unsigned char { End, Word, Number, String, Value, Function, Punct };
struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;              ///< without `%`, `@` and quotes
  unsigned line = 0, column = 0; ///< from 1
};

/// Tokens of `text`, ending in End. Words may contain `.` and `$`; values only `$`; functions `#` too, and
/// anything in quotes (`@"loss (f64)"`).
std::vector<Token> lexCore(std::string_view text);

} // namespace melix::core
