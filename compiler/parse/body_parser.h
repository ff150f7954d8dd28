#pragma once
// Parses bodies: statements, expressions, types and patterns. Each function quotes its rule of
// grammar/melix.ebnf; one file for each group of constructs.

#include "parse/token_reader.h"
#include "support/function_ref.h"

namespace melix::parse {

class BodyParser : public TokenReader {
protected:
  using TokenReader::TokenReader;
  ~BodyParser() = default;

  /// An item, which may stand among statements; false if none begins here.
  virtual bool parseItemInto(syntax::NodeList& out) = 0;
  /// The parts of structs and enums, which may be quoted alone.
  virtual std::vector<syntax::FieldDecl> parseFields(TokenKind close, bool namesOptional) = 0;
  virtual void parseCaseInto(std::vector<syntax::CaseDecl>& out) = 0;

  // --- parse_stmt.cpp
  void parseStatementInto(syntax::NodeList& out);
  NodeId parseStatement();
  NodeId parseBlock(bool ofChoice = false); ///< `ofChoice`: an `else` may follow
  NodeId parseLet();
  NodeId parseFor();
  syntax::ForHead parseForHead();
  NodeId parseCountingFor();
  NodeId parseWhile();
  NodeId parseAssert();
  NodeId parseExpressionStatement();
  NodeId parseScope();
  NodeId parseJump(NodeKind kind);

  // --- parse_expr.cpp
  NodeId parseExpr();
  NodeId parseBinary(int level);
  NodeId parseNot();
  NodeId parseComparison();
  NodeId parseRange();
  NodeId parseWithoutStart(uint32_t begin);
  NodeId parseAs();
  NodeId parseAxisNames();
  NodeId parsePrefix();
  NodeId parsePower();
  NodeId parsePostfix();

  // --- parse_macro.cpp
  NodeId parseQuote(bool isArgument = false);
  NodeId parseSplice();
  bool takeName(NameId& name, Span& span, bool anyWord = false);
  NodeId parseMacroUse();
  NodeId parseMacroTarget(bool isStatement);

  // --- parse_primary.cpp
  NodeId parsePrimary();
  NodeId parseParen();
  /// Parts in parentheses, with commas between them: a tuple, or the only part.
  NodeId parseTuple(uint32_t begin, FunctionRef<NodeId()> part, std::string_view expected = {});
  NodeId parseBracketLiteral();
  NodeId parseString();
  NodeId parseLambda();
  NodeId parseIf();
  NodeId parseCondition();
  NodeId withoutConditions(NodeId value);
  syntax::MatchArm parseMatchArm(bool first);
  NodeId parseMatch();
  NodeId parseGenerator(NodeKind kind, uint32_t begin);
  std::vector<syntax::Argument> parseArguments(bool ofMacro = false);
  std::vector<syntax::Argument> parseBracketItems();
  NodeId parseBracketItem();
  std::vector<syntax::Header> parseHeaders();
  bool startsLambda() const;

  // --- parse_type.cpp
  NodeId parseType();
  NodeId parseTypeAtom(uint32_t begin);
  NodeId parseTupleType(uint32_t begin);
  NodeId parseFunctionType(uint32_t begin);
  std::vector<syntax::Parameter> parseParameters(bool inLambda);
  syntax::Parameter parseParameter(bool inLambda);
  NodeId parsePattern();
  NodeId parsePatternAtom();
  NodeId parseTuplePattern();
  NodeId parseListPattern();
  NodeId parseCasePattern(uint32_t begin);

  unsigned quotes_ = 0;               ///< around the token at hand
  uint32_t statementAt_ = UINT32_MAX; ///< where the innermost statement begins
  bool noLambda_ = false;             ///< in a guard or filter
  bool noBrace_ = false;              ///< in the head of if, while, for, match: a macro takes no `{`
  bool typeItems_ = false;            ///< directly in brackets that may hold types
};

} // namespace melix::parse
