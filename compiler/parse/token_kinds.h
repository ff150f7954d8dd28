#pragma once
// The uses of token kinds, and how brackets pair.

#include "lex/lexer.h"

#include <algorithm>
#include <optional>

namespace melix::parse {

inline bool isOpening(lex::TokenKind kind) {
  return kind == lex::TokenKind::LParen || kind == lex::TokenKind::LBracket || kind == lex::TokenKind::LBrace;
}
inline bool isClosing(lex::TokenKind kind) {
  return kind == lex::TokenKind::RParen || kind == lex::TokenKind::RBracket || kind == lex::TokenKind::RBrace;
}

/// A literal of one token.
inline bool isLiteral(lex::TokenKind kind) {
  return kind == lex::TokenKind::Int || kind == lex::TokenKind::Float || kind == lex::TokenKind::Char ||
         kind == lex::TokenKind::KwTrue || kind == lex::TokenKind::KwFalse;
}
/// Whether a value may end with it, and so a statement.
inline bool endsValue(lex::TokenKind kind) {
  return isLiteral(kind) || kind == lex::TokenKind::Identifier || kind == lex::TokenKind::StringEnd ||
         isClosing(kind);
}

/// The opening bracket that the token at `close` closes; `matching` has the closing one of each opening one.
inline std::optional<size_t> openingOf(const std::vector<uint32_t>& matching, size_t close) {
  const auto found = std::find(matching.begin(), matching.end(), close);
  if (close == 0 || found == matching.end()) return std::nullopt; // 0: an opening one that is not closed
  return static_cast<size_t>(found - matching.begin());
}

} // namespace melix::parse
