#pragma once
// The recursive-descent parser. Each function quotes its rule of grammar/melix.ebnf; one file for each group
// of constructs. Newlines (rule 1): inside ( ) and [ ] they do not count; elsewhere a token on a new line
// ends what stands before it unless it plainly continues.

#include "lex/lexer.h"
#include "syntax/ast.h"

namespace melix::parse {

using lex::Token;
using lex::TokenKind;
using syntax::Ast;
using syntax::NodeId;
using syntax::NodeKind;

class Parser {
public:
  Parser(const lex::TokenStream& stream, const SourceStore& sources, Interner& names, DiagnosticSink& sink,
         Ast& ast)
      : stream_(stream), tokens_(stream.tokens), sources_(sources), names_(names), sink_(sink), ast_(ast),
        errorsBefore_(sink.errorCount()) {
    matchParens();
  }

  void parseModule();
  /// The block that begins at this offset, or behind it where it should; what stands before it is skipped.
  NodeId parseBlockAt(uint32_t offset);
  /// The first thing wrong was that the input ended: at the prompt, ask for more.
  bool ranOut() const { return ranOut_; }

private:
  // --- parser.cpp: tokens, errors, separators
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(TokenKind kind, size_t ahead = 0) const { return peek(ahead).kind == kind; }
  bool isWord(std::string_view word, size_t ahead = 0) const;
  std::string_view textOf(const Token& token) const;
  const Token& take();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind, std::string_view what = {});
  bool expectClose(TokenKind kind, uint32_t open, std::string_view what = {});
  void fail(std::string_view expected);
  std::string_view habitHint() const;
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
  void matchParens();
  bool parenBefore(TokenKind after) const; ///< on the line of the `)` that matches the `(` at hand it follows
  bool enter();
  template <class F>
  NodeId nested(F parse);
  bool endsElement();
  bool missesBrace();
  void skipToItem();
  bool macrosThenItem() const;
  size_t attributesAhead() const;
  void checkHeight();

  // --- parse_item.cpp
  void parseStatementInto(syntax::NodeList& out);
  bool startsItem(size_t ahead = 0) const;
  bool parseItemInto(syntax::NodeList& out);
  NodeId parseFn(uint32_t begin, syntax::FnItem item);
  NodeId parseStruct(uint32_t begin, std::vector<syntax::Attribute> attributes, bool isPub);
  void parseCaseInto(std::vector<syntax::CaseDecl>& out);
  NodeId parseEnum(uint32_t begin, std::vector<syntax::Attribute> attributes, bool isPub);
  NodeId parseConcept(uint32_t begin, bool isPub);
  NodeId parseMacro(uint32_t begin, bool isPub);
  void parseUse(bool isPub, syntax::NodeList& out);
  NodeId parseConst(uint32_t begin, bool isPub);
  NodeId parseTypeAlias(uint32_t begin, bool isPub);
  NodeId parseTest(uint32_t begin, NodeKind kind);
  NodeId parseCheckItem(uint32_t begin);
  std::vector<syntax::Generic> parseGenerics();
  std::vector<syntax::Parameter> parseParameters(bool inLambda);
  std::vector<syntax::FieldDecl> parseFields(TokenKind close, bool namesOptional);
  std::string parsePlainString();

  // --- parse_stmt.cpp
  NodeId parseStatement();
  NodeId parseBlock(bool ofChoice = false); ///< `ofChoice`: an `else` may follow
  NodeId parseLet();
  NodeId parseFor();
  bool holdsSemicolon(size_t open, size_t close) const;
  NodeId parseCountingFor();
  NodeId parseWhile();
  NodeId parseAssert();
  NodeId parseExpressionStatement();
  NodeId parseScope(NodeKind kind);
  NodeId parseJump(NodeKind kind);

  // --- parse_expr.cpp
  NodeId parseExpr();
  NodeId parseBinary(int level);
  NodeId parseNot();
  NodeId parseComparison();
  NodeId parseRange();
  NodeId parseAs();
  NodeId parseAxisNames();
  NodeId parsePrefix();
  NodeId parsePower();
  NodeId parsePostfix();
  bool startsOperand() const;

  // --- parse_primary.cpp
  NodeId parsePrimary();
  NodeId parseParen();
  NodeId parseBracketLiteral();
  NodeId parseString();
  NodeId parseLambda();
  NodeId parseIf();
  NodeId parseIfHead();
  syntax::MatchArm parseMatchArm(bool first);
  NodeId parseMatch();
  NodeId parseQuote();
  NodeId parseSplice();
  NodeId parseMacroUse();
  NodeId parseMacroTarget();
  NodeId parseGenerator(NodeKind kind, uint32_t begin);
  std::vector<syntax::Argument> parseArguments();
  std::vector<syntax::Argument> parseBracketItems();
  NodeId parseBracketItem();
  syntax::NodeId parsePackName();
  std::vector<syntax::Header> parseHeaders();
  void refuseLambda();
  bool startsLambda() const;

  // --- parse_type.cpp, parse_pattern.cpp
  NodeId parseType();
  NodeId parseTypeAtom(uint32_t begin);
  NodeId parseTupleType(uint32_t begin);
  NodeId parseFunctionType(uint32_t begin);
  NodeId parsePattern();
  NodeId parsePatternAtom();
  NodeId parseTuplePattern();
  NodeId parseCasePattern(uint32_t begin);

  const lex::TokenStream& stream_;
  const std::vector<Token>& tokens_;
  const SourceStore& sources_;
  Interner& names_;
  DiagnosticSink& sink_;
  Ast& ast_;
  size_t errorsBefore_;
  std::vector<uint32_t> matching_; ///< index of the closing bracket of each opening one; 0 if there is none
  size_t at_ = 0;
  bool ignoreNewlines_ = false;
  bool noLambda_ = false; ///< in a guard or filter
  bool noBrace_ = false;  ///< in the head of if, while, for, match: a macro takes no `{`
  bool recovering_ = false;
  bool typeItems_ = false; ///< directly in brackets that may hold types
  bool ranOut_ = false;
  bool gaveUp_ = false; ///< nothing more is read or reported
  unsigned depth_ = 0;  ///< brackets and prefix forms around the token at hand
  static constexpr size_t maxErrors = 30;
  static constexpr unsigned maxDepth = 256, maxChain = 1000, maxHeight = 3000;
};

/// Runs `parse` one level deeper, or reports that the nesting is too deep and gives an Error node.
template <class F>
NodeId Parser::nested(F parse) {
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
