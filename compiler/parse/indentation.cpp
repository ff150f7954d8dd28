// What the indentation tells of braces that are not paired.
#include "parse/token_reader.h"

namespace melix::parse {

namespace {

bool opens(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
bool closes(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}

/// Whether a token ends what may be a statement, or begins one.
bool endsOperand(TokenKind kind) {
  return kind == TokenKind::Identifier || kind == TokenKind::Int || kind == TokenKind::Float ||
         kind == TokenKind::StringEnd || closes(kind);
}
bool beginsStatement(TokenKind kind) { return kind == TokenKind::Identifier || lex::isKeyword(kind); }

} // namespace

/// The blanks before the first token of the line at an offset.
uint32_t TokenReader::indentAt(uint32_t offset) const {
  std::string_view text = sources_.text(stream_.file).substr(0, offset);
  const size_t line = text.rfind('\n') + 1; // 0 where there is none
  const size_t first = text.find_first_not_of(" \t", line);
  return static_cast<uint32_t>((first == std::string_view::npos ? text.size() : first) - line);
}

/// The first block that a line leaves by its indentation: what is inside stands further right than the line
/// that opens the block, and what closes it as far.
std::optional<TokenReader::LeftBlock> TokenReader::leftBlock() const {
  std::vector<uint32_t> open;
  for (uint32_t k = 0; k < tokens_.size(); ++k) {
    const TokenKind kind = tokens_[k].kind;
    if (tokens_[k].newlineBefore && !open.empty() && tokens_[open.back()].kind == TokenKind::LBrace) {
      const uint32_t inside = indentAt(tokens_[k].begin), around = indentAt(tokens_[open.back()].begin);
      if (kind != TokenKind::End && (kind == TokenKind::RBrace ? inside < around : inside <= around))
        return LeftBlock{open.back(), k};
    }
    if (opens(kind)) open.push_back(k);
    if (closes(kind) && !open.empty()) open.pop_back();
  }
  return std::nullopt;
}

/// The first line before a token that stands further right than the first line of its block, as if another
/// block were open.
std::optional<size_t> TokenReader::enteredBlock(size_t end) const {
  struct Open {
    bool isBlock;
    std::optional<uint32_t> indent; ///< of the first line inside
  };
  std::vector<Open> open{{true, 0}};
  for (size_t k = 0; k < end; ++k) {
    const Token& token = tokens_[k];
    Open& inside = open.back();
    if (token.newlineBefore && inside.isBlock && !closes(token.kind)) {
      const uint32_t indent = indentAt(token.begin);
      if (!inside.indent) inside.indent = indent;
      const bool isStatement = beginsStatement(token.kind) && k > 0 && endsOperand(tokens_[k - 1].kind);
      if (isStatement && indent > *inside.indent) return k;
    }
    if (opens(token.kind)) open.push_back({token.kind == TokenKind::LBrace, std::nullopt});
    if (closes(token.kind) && open.size() > 1) open.pop_back();
  }
  return std::nullopt;
}

} // namespace melix::parse
