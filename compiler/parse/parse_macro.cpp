// Macros: quotes, splices, uses.
#include "parse/body_parser.h"

namespace melix::parse {

using namespace syntax;

/// quote = "quote" ( block | kind "{" … "}" );  kind argument = "type" type | "pattern" ( pattern | "{"
/// pattern "}" )
NodeId BodyParser::parseQuote(bool isArgument) {
  uint32_t begin = peek().begin;
  if (!isArgument) take();
  Quote quote{};
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  const unsigned outer = quotes_;
  if (!isArgument) ++quotes_;
  if (!isArgument && !is(TokenKind::KwType) && !(is(TokenKind::Identifier) && is(TokenKind::LBrace, 1))) {
    // No splice, as elsewhere where a block stands: there is no quote around it.
    quote.block = is(TokenKind::Dollar) && !expect(TokenKind::LBrace) ? errorNode() : parseBlock();
    quotes_ = outer;
    if (ast_.kind(quote.block) == NodeKind::Error) return quote.block;
    return ast_.add(NodeKind::Quote, spanFrom(begin), quote);
  }
  const Token& word = take();
  const std::string kind(textOf(word));
  quote.what = nameOf(word);
  // What a node can hold that is none itself.
  auto held = [&]() -> NodeId {
    uint32_t start = peek().begin;
    if (kind == "type") return parseType();
    if (kind == "pattern") return parsePattern();
    if (kind == "arm") {
      Match match;
      match.arms.push_back(parseMatchArm(false));
      return ast_.add(NodeKind::Match, spanFrom(start), std::move(match));
    }
    if (kind == "param") {
      Lambda lambda{};
      lambda.params.push_back(parseParameter(false));
      return ast_.add(NodeKind::Lambda, spanFrom(start), std::move(lambda));
    }
    if (kind == "header") {
      Builder builder;
      builder.headers = parseHeaders();
      if (builder.headers.size() > 1)
        sink_.report(DiagId::Expected, spanFrom(start), "one header", "several", "");
      return ast_.add(NodeKind::Builder, spanFrom(start), std::move(builder));
    }
    if (kind == "case") {
      EnumItem item;
      parseCaseInto(item.cases);
      return ast_.add(NodeKind::Enum, spanFrom(start), std::move(item));
    }
    if (kind == "field") {
      StructItem item;
      FieldDecl f;
      Span span;
      if (takeName(f.name, span) && expect(TokenKind::Colon)) f.type = parseType();
      if (!f.type) f.type = errorNode();
      if (!recovering_ && accept(TokenKind::Equal)) f.defaultValue = parseExpr();
      f.span = spanFrom(start);
      item.fields.push_back(f);
      return ast_.add(NodeKind::Struct, spanFrom(start), std::move(item));
    }
    sink_.report(DiagId::NoQuoteKind, spanFrom(start), kind);
    parseExpr();
    return errorNode();
  };
  Scoped newlines(ignoreNewlines_, true);
  if (isArgument && !(kind == "pattern" && is(TokenKind::LBrace))) {
    quote.block = nested(held);
  } else if (auto open = static_cast<uint32_t>(at_); expect(TokenKind::LBrace)) {
    quote.block = nested(held);
    if (!recovering_ && is(TokenKind::Comma)) take();
    expectClose(TokenKind::RBrace, open);
  }
  quotes_ = outer;
  if (!quote.block) quote.block = errorNode();
  if (ast_.kind(quote.block) == NodeKind::Error) return quote.block;
  return ast_.add(isArgument ? NodeKind::KindArgument : NodeKind::Quote, spanFrom(begin), quote);
}

/// splice = ( "$" | "$.." ) ( name | "(" expr ")" | array )
NodeId BodyParser::parseSplice() {
  uint32_t begin = peek().begin;
  NodeKind kind = take().kind == TokenKind::Dollar ? NodeKind::Splice : NodeKind::SpliceMany;
  NodeId inner;
  const unsigned outer = quotes_;
  if (quotes_ > 0) --quotes_; // what it holds is code around the quote
  if (is(TokenKind::Identifier)) {
    const Token& name = take();
    inner = ast_.add(NodeKind::Name, tokenSpan(name), Name{nameOf(name)});
  } else if (is(TokenKind::LParen) || is(TokenKind::LBracket)) {
    Scoped types(typeItems_, false);
    inner = parsePrimary();
  } else {
    fail("a name, `(` or `[`");
  }
  quotes_ = outer;
  if (!inner) inner = errorNode();
  return ast_.add(kind, spanFrom(begin), One{inner});
}

/// A name, or a splice in its place.
bool BodyParser::takeName(NameId& name, Span& span, bool anyWord) {
  if (!startsSplice()) return TokenReader::takeName(name, span, anyWord);
  uint32_t begin = peek().begin;
  NodeId splice = parseSplice();
  span = spanFrom(begin);
  name = quotes_ > 0 ? splicedName(splice) : names_.intern("_");
  // Names are looked at before expansion, so that one outside of quotes is told here.
  // Those that follow have the same cause.
  const bool isTold = !sink_.all().empty() && sink_.all().back().id == DiagId::SpliceOutside;
  if (quotes_ == 0 && !recovering_ && !isTold) sink_.report(DiagId::SpliceOutside, span);
  return !recovering_;
}

/// `type T`, or `pattern P` where what follows can only begin a pattern: `pattern(x)` is a call.
bool TokenReader::startsKindArgument() const {
  if (is(TokenKind::KwType)) return true;
  if (!isWord("pattern")) return false;
  switch (peek(1).kind) {
  case TokenKind::Identifier:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Char:
  case TokenKind::StringStart:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
  case TokenKind::LBrace: return true;
  default: return false;
  }
}

/// macro use = "@" path [ "(" arguments ")" ] [ statement | item | block ]
NodeId BodyParser::parseMacroUse() {
  return nested([&] {
    uint32_t begin = take().begin;
    MacroUse use{};
    Span span;
    NameId name;
    if (!takeName(name, span)) return errorNode();
    use.path = ast_.add(NodeKind::Name, span, Name{name});
    while (is(TokenKind::Dot) && !recovering_) {
      take();
      if (takeName(name, span, true))
        use.path = ast_.add(NodeKind::Member, {span.file, ast_.span(use.path).begin, span.end},
                            Member{use.path, name, span});
    }
    if (is(TokenKind::LParen) && !peek().newlineBefore) {
      use.hasArgs = true;
      use.args = parseArguments(true);
    }
    if (!recovering_) use.target = parseMacroTarget(begin == statementAt_);
    return ast_.add(NodeKind::MacroUse, spanFrom(begin), std::move(use));
  });
}

/// The last argument of a macro (rule 44): a statement, a block or an item on the same line; an item on a
/// later one below a use that is a statement, not below one that a statement ends in.
NodeId BodyParser::parseMacroTarget(bool isStatement) {
  if (noBrace_) return NodeId::none();
  bool here = sameLine();
  switch (peek().kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwFor:
  case TokenKind::KwWhile:
  case TokenKind::KwLoop:
  case TokenKind::KwIf:
  case TokenKind::KwMatch:
  case TokenKind::KwReturn:
  case TokenKind::KwBreak:
  case TokenKind::KwContinue:
  case TokenKind::KwAssert: return here ? parseStatement() : NodeId::none();
  case TokenKind::LBrace: return here ? parseBlock() : NodeId::none();
  case TokenKind::Dollar: return here && isStatement ? parseStatement() : NodeId::none();
  default: break;
  }
  bool item = !ignoreNewlines_ && (here || isStatement) && macrosThenItem();
  bool macro = is(TokenKind::At) && !peek().spaceAfter;
  if (!item) return here && macro ? parseStatement() : NodeId::none();
  NodeList items;
  if (parseItemInto(items)) return items.empty() ? NodeId::none() : items[0];
  return parseStatement();
}

} // namespace melix::parse
