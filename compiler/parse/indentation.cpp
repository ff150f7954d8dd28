// What the indentation tells of braces that are not paired.
#include "parse/token_kinds.h"
#include "parse/token_reader.h"

namespace melix::parse {

namespace {

/// Whether a statement may begin with a token.
bool beginsStatement(TokenKind kind) { return kind == TokenKind::Identifier || lex::isKeyword(kind); }

bool isFurtherRight(std::string_view indent, std::string_view than) {
  return indent.size() > than.size() && indent.starts_with(than);
}

} // namespace

/// The blanks before the first token of the line at an offset. Of two lines one stands further right if its
/// blanks begin with those of the other: how wide a tab is nobody can tell.
std::string_view TokenReader::indentAt(uint32_t offset) const {
  std::string_view text = sources_.text(stream_.file).substr(0, offset);
  text.remove_prefix(text.rfind('\n') + 1); // 0 where there is none
  return text.substr(0, text.find_first_not_of(" \t"));
}

/// The first block that a line leaves by its indentation: what is inside stands further right than the line
/// that opens the block, and what closes it as far.
std::optional<TokenReader::LeftBlock> TokenReader::leftBlock() const {
  std::vector<uint32_t> open;
  for (uint32_t k = 0; k < tokens_.size(); ++k) {
    const TokenKind kind = tokens_[k].kind;
    if (tokens_[k].newlineBefore && !open.empty() && tokens_[open.back()].kind == TokenKind::LBrace) {
      const std::string_view inside = indentAt(tokens_[k].begin),
                             around = indentAt(tokens_[open.back()].begin);
      const bool isAsFar = kind != TokenKind::RBrace && inside == around;
      if (kind != TokenKind::End && (isAsFar || isFurtherRight(around, inside)))
        return LeftBlock{open.back(), k};
    }
    if (isOpening(kind)) open.push_back(k);
    if (isClosing(kind) && !open.empty()) open.pop_back();
  }
  return std::nullopt;
}

/// The first line before a token that stands further right than the first line of its block, as if another
/// block were open.
std::optional<size_t> TokenReader::enteredBlock(size_t end) const {
  struct Open {
    bool isBlock;
    std::optional<std::string_view> indent; ///< of the first line inside
  };
  std::vector<Open> open{{true, ""}};
  for (size_t k = 0; k < end; ++k) {
    const Token& token = tokens_[k];
    Open& inside = open.back();
    if (token.newlineBefore && inside.isBlock && !isClosing(token.kind)) {
      const std::string_view indent = indentAt(token.begin);
      if (!inside.indent) inside.indent = indent;
      const bool isStatement = beginsStatement(token.kind) && k > 0 && endsValue(tokens_[k - 1].kind);
      if (isStatement && isFurtherRight(indent, *inside.indent)) return k;
    }
    if (isOpening(token.kind)) open.push_back({token.kind == TokenKind::LBrace, std::nullopt});
    if (isClosing(token.kind) && open.size() > 1) open.pop_back();
  }
  return std::nullopt;
}

/// Of a line that `enteredBlock` found: the brace before it, if that stands further right than the line whose
/// block it closes, so that it is one too many.
std::optional<size_t> TokenReader::braceTooMany(size_t line) const {
  if (line == 0 || tokens_[line - 1].kind != TokenKind::RBrace) return std::nullopt;
  const std::optional<size_t> open = openingOf(matching_, line - 1);
  if (!open) return std::nullopt;
  const bool isInside = isFurtherRight(indentAt(tokens_[line - 1].begin), indentAt(tokens_[*open].begin));
  return isInside ? std::optional(line - 1) : std::nullopt;
}

} // namespace melix::parse
