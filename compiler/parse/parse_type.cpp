// Types and patterns.
#include "parse/body_parser.h"

namespace melix::parse {

using namespace syntax;

/// type = ( name { "." name } | "(" types ")" | function type | splice | macro use ) { "[" items "]" }
NodeId BodyParser::parseType() {
  uint32_t begin = peek().begin;
  if (is(TokenKind::LParen) && parenBefore(TokenKind::Arrow))
    return nested([&] { return parseFunctionType(begin); });
  NodeId type = parseTypeAtom(begin);
  for (unsigned chain = 0; !recovering_ && is(TokenKind::LBracket) && !peek().newlineBefore; ++chain) {
    if (chain > maxChain) {
      giveUp(DiagId::ChainTooLong, maxChain);
      break;
    }
    if (!enter()) return errorNode();
    auto items = parseBracketItems();
    --depth_;
    type = ast_.add(NodeKind::Brackets, spanFrom(begin), Brackets{type, std::move(items)});
  }
  return type;
}

NodeId BodyParser::parseTypeAtom(uint32_t begin) {
  if (startsSplice()) return parseSplice();
  if (is(TokenKind::At)) {
    Scoped noTarget(noBrace_, true);
    return parseMacroUse();
  }
  if (is(TokenKind::LParen)) return nested([&] { return parseTupleType(begin); });
  if (!is(TokenKind::Identifier)) {
    fail("a type");
    return errorNode();
  }
  const Token& name = take();
  NodeId type = textOf(name) == "_" ? ast_.add(NodeKind::Underscore, tokenSpan(name))
                                    : ast_.add(NodeKind::Name, tokenSpan(name), Name{nameOf(name)});
  for (unsigned chain = 0; is(TokenKind::Dot) && !recovering_; ++chain) {
    if (chain > maxChain) {
      giveUp(DiagId::ChainTooLong, maxChain);
      break;
    }
    take();
    NameId part;
    Span span;
    if (takeName(part, span, true))
      type = ast_.add(NodeKind::Member, spanFrom(begin), Member{type, part, span});
  }
  return type;
}

/// tuple type = "(" { type "," } ")"; one type without a comma is that type in brackets
NodeId BodyParser::parseTupleType(uint32_t begin) {
  return parseTuple(begin, [this] { return parseType(); });
}

/// function type = "(" { [ "inout" ] type } ")" "->" type
NodeId BodyParser::parseFunctionType(uint32_t begin) {
  take();
  FunctionType fn;
  {
    Scoped inBrackets(ignoreNewlines_, true);
    while (!is(TokenKind::RParen) && !recovering_) {
      fn.inout.push_back(accept(TokenKind::KwInout));
      fn.params.push_back(parseType());
      if (!accept(TokenKind::Comma)) break;
    }
    expect(TokenKind::RParen);
  }
  if (!recovering_ && expect(TokenKind::Arrow)) fn.result = parseType();
  return ast_.add(NodeKind::FunctionType, spanFrom(begin), std::move(fn));
}

/// pattern = atom { "|" atom }
NodeId BodyParser::parsePattern() {
  uint32_t begin = peek().begin;
  NodeId first = parsePatternAtom();
  if (recovering_ || !is(TokenKind::Pipe)) return first;
  NodeList alternatives{first};
  while (!recovering_ && accept(TokenKind::Pipe)) alternatives.push_back(parsePatternAtom());
  return ast_.add(NodeKind::OrPattern, spanFrom(begin), Many{std::move(alternatives)});
}

/// atom = "_" | name | literal | case | "(" patterns ")" | "[" patterns "]" | "&" atom | quote | splice
NodeId BodyParser::parsePatternAtom() {
  uint32_t begin = peek().begin;
  switch (peek().kind) {
  case TokenKind::Identifier: {
    if (textOf(peek()) == "_") {
      take();
      return ast_.add(NodeKind::Underscore, spanFrom(begin));
    }
    if (isCapital(textOf(peek())) || is(TokenKind::Dot, 1))
      return nested([&] { return parseCasePattern(begin); });
    const Token& name = take();
    return ast_.add(NodeKind::Name, tokenSpan(name), Name{nameOf(name)});
  }
  case TokenKind::LParen: return nested([&] { return parseTuplePattern(); });
  case TokenKind::LBracket: return nested([&] { return parseListPattern(); });
  case TokenKind::Amp: {
    take();
    NodeId inner = nested([&] { return parsePatternAtom(); });
    return ast_.add(NodeKind::RefPattern, spanFrom(begin), One{inner});
  }
  case TokenKind::Minus: {
    take();
    NodeId number = is(TokenKind::Int) || is(TokenKind::Float) ? parsePrimary() : NodeId::none();
    if (!number) {
      fail("a number");
      return errorNode();
    }
    return ast_.add(NodeKind::Unary, spanFrom(begin), Unary{UnaryOp::Neg, number});
  }
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Char:
  case TokenKind::StringStart:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
  case TokenKind::KwQuote:
  case TokenKind::DollarDotDot: return parsePrimary();
  case TokenKind::At: {
    Scoped noTarget(noBrace_, true);
    return parseMacroUse();
  }
  case TokenKind::Dollar: {
    const bool isPath =
        is(TokenKind::Identifier, 1) && (is(TokenKind::LParen, 2) || is(TokenKind::Dot, 2)) && sameLine(2);
    return isPath ? nested([&] { return parseCasePattern(begin); }) : parsePrimary();
  }
  case TokenKind::KwElse:
    fail("a pattern");
    sink_.hintLast("`_` matches whatever is left");
    return errorNode();
  default: fail("a pattern"); return errorNode();
  }
}

/// tuple pattern = "(" { pattern "," } ")"
NodeId BodyParser::parseTuplePattern() {
  return parseTuple(peek().begin, [this] { return parsePattern(); });
}

/// list pattern = "[" { pattern "," } "]"
NodeId BodyParser::parseListPattern() {
  auto open = static_cast<uint32_t>(at_);
  uint32_t begin = take().begin;
  Scoped inBrackets(ignoreNewlines_, true);
  NodeList elements;
  while (!is(TokenKind::RBracket) && !recovering_) {
    const bool isRest = is(TokenKind::DotDot);
    elements.push_back(parsePattern());
    if (isRest)
      sink_.hintLast("a list pattern has a part for each element: `xs[0]` and `xs[1..]` split a list of any "
                     "length");
    if (!accept(TokenKind::Comma)) break;
  }
  expectClose(TokenKind::RBracket, open, "`,` or `]`");
  return ast_.add(NodeKind::Array, spanFrom(begin), Many{std::move(elements)});
}

/// case = ( name | splice ) { "." name } [ "(" { ".." | [ name ":" ] pattern } ")" ]
NodeId BodyParser::parseCasePattern(uint32_t begin) {
  NodeId path;
  if (startsSplice()) {
    path = parseSplice();
  } else {
    const Token& first = take();
    path = ast_.add(NodeKind::Name, tokenSpan(first), Name{nameOf(first)});
  }
  while (!recovering_ && accept(TokenKind::Dot)) {
    NameId part;
    Span span;
    if (takeName(part, span, true))
      path = ast_.add(NodeKind::Member, spanFrom(begin), Member{path, part, span});
  }
  CasePattern node{path, {}, false};
  if (!recovering_ && is(TokenKind::LParen) && !peek().newlineBefore) {
    auto open = static_cast<uint32_t>(at_);
    take();
    node.hasFields = true;
    Scoped inBrackets(ignoreNewlines_, true);
    while (!is(TokenKind::RParen) && !recovering_) {
      PatternField field;
      uint32_t fieldBegin = peek().begin;
      if (accept(TokenKind::DotDot)) {
        field.span = spanFrom(fieldBegin);
      } else {
        if (startsLabel()) {
          Span label;
          takeName(field.label, label);
          take();
        }
        field.pattern = parsePattern();
        field.span = spanFrom(fieldBegin);
      }
      node.fields.push_back(field);
      if (!accept(TokenKind::Comma)) break;
    }
    expectClose(TokenKind::RParen, open);
  }
  return ast_.add(NodeKind::CasePattern, spanFrom(begin), std::move(node));
}

/// parameters = "(" { [ "inout" ] [ ".." ] name [ ":" type ] [ "=" expr ] } ")"; a lambda's may be patterns
std::vector<Parameter> BodyParser::parseParameters(bool inLambda) {
  std::vector<Parameter> out;
  auto open = static_cast<uint32_t>(at_);
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  while (!is(TokenKind::RParen) && !recovering_) {
    Parameter p = parseParameter(inLambda);
    if (!p.name && !p.pattern) break;
    out.push_back(p);
    if (!accept(TokenKind::Comma)) break;
  }
  expectClose(TokenKind::RParen, open, "`,` or `)`");
  return out;
}

/// parameter = [ "inout" ] [ ".." ] name [ ":" type ] [ "=" expr ] | splice
Parameter BodyParser::parseParameter(bool inLambda) {
  Parameter p;
  uint32_t begin = peek().begin;
  p.isInout = accept(TokenKind::KwInout);
  p.isPack = accept(TokenKind::DotDot);
  Span span;
  /// A splice that no type and no default follow is the parameter.
  auto isWhole = [&] {
    if (!startsSplice() || p.isInout || p.isPack) return false;
    const size_t close = matching_[at_ + 1];
    const size_t behind = close == 0 ? 2 : close - at_ + 1;
    return !is(TokenKind::Colon, behind) && !is(TokenKind::Equal, behind);
  };
  if (isWhole()) {
    p.pattern = parseSplice();
  } else if (inLambda && is(TokenKind::LParen)) {
    p.pattern = parsePattern();
  } else if (!takeName(p.name, span)) {
    return p;
  }
  if (p.name && !isSpliced(p.name) && is(TokenKind::Identifier) && !recovering_) {
    const std::string type(names_.text(p.name)), name(textOf(peek()));
    fail("`,` or `)`");
    sink_.hintLast("the type stands behind the name: `" + name + ": " + type + "`");
  }
  if (accept(TokenKind::Colon)) p.type = parseType();
  if (accept(TokenKind::Equal)) p.defaultValue = parseExpr();
  p.span = spanFrom(begin);
  return p;
}

} // namespace melix::parse
