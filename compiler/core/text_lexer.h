#pragma once
// Internal to parsing Core text: its tokens.

#include <string>
#include <string_view>
#include <vector>

namespace melix::core {

enum class TokenKind : unsigned char { End, Word, Number, String, Value, Function, Punct };
struct Token {
  TokenKind kind = TokenKind::End;
  std::string text; ///< without `%`, `@` and quotes
  unsigned line = 0;
};

/// Tokens of `text`, ending in End. Words may contain `.` and `$`; values only `$`.
std::vector<Token> lexCore(std::string_view text);

} // namespace melix::core
