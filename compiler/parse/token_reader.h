#pragma once
// The tokens of a module for the parser: the next token, the expected one, and recovery after an error.
// Newlines (rule 1): inside ( ) and [ ] they do not count; elsewhere a token on a new line ends the construct
// before it unless it plainly continues.

#include "lex/lexer.h"
#include "syntax/ast.h"

#include <optional>

namespace melix::parse {

using lex::Token;
using lex::TokenKind;
using syntax::Ast;
using syntax::NodeId;
using syntax::NodeKind;

inline constexpr size_t maxErrors = 30;
inline constexpr unsigned maxDepth = 256, maxChain = 1000, maxHeight = 3000;

class TokenReader {
public:
  TokenReader(const lex::TokenStream& stream, const SourceStore& sources, Interner& names,
              DiagnosticSink& sink, Ast& ast)
      : stream_(stream), tokens_(stream.tokens), sources_(sources), names_(names), sink_(sink), ast_(ast),
        errorsBefore_(sink.errorCount()) {
    matchParens();
  }

  /// The first thing wrong was that the input ended: at the prompt, ask for more.
  bool ranOut() const { return ranOut_; }

protected:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(TokenKind kind, size_t ahead = 0) const { return peek(ahead).kind == kind; }
  bool isWord(std::string_view word, size_t ahead = 0) const;
  std::string_view textOf(const Token& token) const;
  const Token& take();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind, std::string_view what = {});
  bool expectClose(TokenKind kind, uint32_t open, std::string_view what = {});
  void fail(std::string_view expected);
  void failAt(size_t token, std::string_view expected);

  // --- indentation.cpp
  struct LeftBlock {
    uint32_t brace, next; ///< the brace that is not closed, and the first token after its block
  };
  std::optional<LeftBlock> leftBlock() const;
  std::optional<size_t> enteredBlock(size_t end) const;
  std::optional<size_t> braceTooMany(size_t line) const;
  std::string_view indentAt(uint32_t offset) const;
  bool hasReported() const { return sink_.errorCount() > errorsBefore_; }

  bool inUnclosedString() const;
  bool inUnclosedString(uint32_t at) const;
  void skipTo(bool commaEnds);
  void giveUp(DiagId id, unsigned limit);
  bool sameLine(size_t ahead = 0) const { return ignoreNewlines_ || !peek(ahead).newlineBefore; }
  bool continuesLine() const;
  Span spanFrom(uint32_t begin) const;
  Span tokenSpan(const Token& token) const { return {stream_.file, token.begin, token.end}; }
  NameId nameOf(const Token& token) { return names_.intern(textOf(token)); }
  bool takeName(NameId& name, Span& span, bool anyWord = false);
  void separators();
  bool closesBlock() const { return is(TokenKind::RBrace) || is(TokenKind::End); }
  NodeId errorNode();
  bool parenBefore(TokenKind after) const; ///< on the line of the `)` that matches the `(` at hand it follows
  bool enter();
  template <class F>
  NodeId nested(F parse);
  bool endsElement();
  bool missesBrace(uint32_t open);
  void skipToItem();
  bool macrosThenItem() const;
  bool startsItem(size_t ahead = 0) const;
  bool startsOperand() const;
  void refuseLambda();
  bool startsKindArgument() const;
  bool startsSplice(size_t ahead = 0) const {
    return is(TokenKind::Dollar, ahead) || is(TokenKind::DollarDotDot, ahead);
  }
  /// `name:`, which may be spliced, before an argument.
  bool startsLabel() const {
    const size_t name = is(TokenKind::Dollar) ? 1 : 0;
    return is(TokenKind::Identifier, name) && is(TokenKind::Colon, name + 1);
  }
  bool changesByOne() const;

  const lex::TokenStream& stream_;
  const std::vector<Token>& tokens_;
  const SourceStore& sources_;
  Interner& names_;
  DiagnosticSink& sink_;
  Ast& ast_;
  std::vector<uint32_t> matching_; ///< index of the closing bracket of each opening one; 0 if there is none
  size_t at_ = 0;
  bool ignoreNewlines_ = false;
  bool recovering_ = false;
  bool gaveUp_ = false; ///< nothing more is read or reported
  unsigned depth_ = 0;  ///< brackets and prefix forms around the token at hand

private:
  void matchParens();
  bool statementsUpTo(size_t end) const;
  void failToClose(TokenKind kind, uint32_t open, std::string_view what);

  const size_t errorsBefore_;
  bool ranOut_ = false;
};

/// Runs `parse` one level deeper, or reports that the nesting is too deep and gives an Error node.
template <class F>
NodeId TokenReader::nested(F parse) {
  if (!enter()) return errorNode();
  NodeId result = parse();
  --depth_;
  return result;
}

/// Sets a flag for the rest of a scope.
class Scoped {
public:
  Scoped(bool& flag, bool value) : flag_(flag), old_(flag) { flag = value; }
  ~Scoped() { flag_ = old_; }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

private:
  bool& flag_;
  bool old_;
};

} // namespace melix::parse
