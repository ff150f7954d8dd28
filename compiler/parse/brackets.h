#pragma once
// The brackets among the tokens.

#include "lex/lexer.h"

namespace melix::parse {

inline bool isOpening(lex::TokenKind kind) {
  return kind == lex::TokenKind::LParen || kind == lex::TokenKind::LBracket || kind == lex::TokenKind::LBrace;
}
inline bool isClosing(lex::TokenKind kind) {
  return kind == lex::TokenKind::RParen || kind == lex::TokenKind::RBracket || kind == lex::TokenKind::RBrace;
}

} // namespace melix::parse
