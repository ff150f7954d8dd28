// Types and patterns.
#include "parse/parser.h"

namespace melix::parse {

using namespace syntax;

/// type = ( name { "." name } | "(" types ")" | function type | splice ) { "[" items "]" }
NodeId Parser::parseType() {
  return nested([&]() -> NodeId {
    uint32_t begin = peek().begin;
    NodeId type;
    if (is(TokenKind::Dollar)) {
      type = parseSplice();
    } else if (is(TokenKind::LParen)) {
      if (parenBefore(TokenKind::Arrow))
        return parseFunctionType(begin);
      take();
      Scoped inBrackets(ignoreNewlines_, true);
      NodeList parts;
      bool comma = false;
      while (!is(TokenKind::RParen) && !recovering_) {
        parts.push_back(parseType());
        comma = accept(TokenKind::Comma);
        if (!comma)
          break;
      }
      expect(TokenKind::RParen);
      bool paren = parts.size() == 1 && !comma;
      type = paren ? ast_.add(NodeKind::Paren, spanFrom(begin), One{parts[0]})
                   : ast_.add(NodeKind::Tuple, spanFrom(begin), Many{std::move(parts)});
    } else if (is(TokenKind::Identifier)) {
      const Token& name = take();
      type = ast_.add(NodeKind::Name, tokenSpan(name), Name{nameOf(name)});
      while (is(TokenKind::Dot) && !peek().newlineBefore && !recovering_) {
        take();
        NameId part;
        Span span;
        if (takeName(part, span, true))
          type = ast_.add(NodeKind::Member, spanFrom(begin), Member{type, part, span});
      }
    } else {
      fail("a type");
      return errorNode();
    }
    while (!recovering_ && is(TokenKind::LBracket) && !peek().newlineBefore) {
      auto items = parseBracketItems();
      type = ast_.add(NodeKind::Brackets, spanFrom(begin), Brackets{type, std::move(items)});
    }
    return type;
  });
}

/// function type = "(" { [ "inout" ] type } ")" "->" type
NodeId Parser::parseFunctionType(uint32_t begin) {
  take();
  FunctionType fn;
  {
    Scoped inBrackets(ignoreNewlines_, true);
    while (!is(TokenKind::RParen) && !recovering_) {
      fn.inout.push_back(accept(TokenKind::KwInout));
      fn.params.push_back(parseType());
      if (!accept(TokenKind::Comma))
        break;
    }
    expect(TokenKind::RParen);
  }
  if (!recovering_ && expect(TokenKind::Arrow))
    fn.result = parseType();
  return ast_.add(NodeKind::FunctionType, spanFrom(begin), std::move(fn));
}

/// pattern = atom { "|" atom }
NodeId Parser::parsePattern() {
  return nested([&] {
    uint32_t begin = peek().begin;
    NodeId first = parsePatternAtom();
    if (recovering_ || !is(TokenKind::Pipe))
      return first;
    NodeList alternatives{first};
    while (!recovering_ && accept(TokenKind::Pipe))
      alternatives.push_back(parsePatternAtom());
    return ast_.add(NodeKind::OrPattern, spanFrom(begin), Many{std::move(alternatives)});
  });
}

/// atom = "_" | name | literal | case | "(" patterns ")" | "&" atom | quote | splice
NodeId Parser::parsePatternAtom() {
  uint32_t begin = peek().begin;
  switch (peek().kind) {
  case TokenKind::Identifier: {
    if (textOf(peek()) == "_") {
      take();
      return ast_.add(NodeKind::Underscore, spanFrom(begin));
    }
    char initial = textOf(peek())[0];
    bool capital = initial >= 'A' && initial <= 'Z';
    if (capital || is(TokenKind::Dot, 1))
      return parseCasePattern(begin);
    const Token& name = take();
    return ast_.add(NodeKind::Name, tokenSpan(name), Name{nameOf(name)});
  }
  case TokenKind::LParen: {
    take();
    Scoped inBrackets(ignoreNewlines_, true);
    NodeList parts;
    bool comma = false;
    while (!is(TokenKind::RParen) && !recovering_) {
      parts.push_back(parsePattern());
      comma = accept(TokenKind::Comma);
      if (!comma)
        break;
    }
    expect(TokenKind::RParen);
    if (parts.size() == 1 && !comma)
      return ast_.add(NodeKind::Paren, spanFrom(begin), One{parts[0]});
    return ast_.add(NodeKind::Tuple, spanFrom(begin), Many{std::move(parts)});
  }
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
  case TokenKind::Dollar:
  case TokenKind::DollarDotDot: return parsePrimary();
  default: fail("a pattern"); return errorNode();
  }
}

/// case = name { "." name } [ "(" { ".." | [ name ":" ] pattern } ")" ]
NodeId Parser::parseCasePattern(uint32_t begin) {
  const Token& first = take();
  NodeId path = ast_.add(NodeKind::Name, tokenSpan(first), Name{nameOf(first)});
  while (!recovering_ && accept(TokenKind::Dot)) {
    NameId part;
    Span span;
    if (takeName(part, span, true))
      path = ast_.add(NodeKind::Member, spanFrom(begin), Member{path, part, span});
  }
  CasePattern node{path, {}, false};
  if (!recovering_ && is(TokenKind::LParen) && !peek().newlineBefore) {
    take();
    node.hasFields = true;
    Scoped inBrackets(ignoreNewlines_, true);
    while (!is(TokenKind::RParen) && !recovering_) {
      PatternField field;
      uint32_t fieldBegin = peek().begin;
      if (accept(TokenKind::DotDot)) {
        field.span = spanFrom(fieldBegin);
      } else {
        if (is(TokenKind::Identifier) && is(TokenKind::Colon, 1)) {
          field.label = nameOf(take());
          take();
        }
        field.pattern = parsePattern();
        field.span = spanFrom(fieldBegin);
      }
      node.fields.push_back(field);
      if (!accept(TokenKind::Comma))
        break;
    }
    expect(TokenKind::RParen);
  }
  return ast_.add(NodeKind::CasePattern, spanFrom(begin), std::move(node));
}

} // namespace melix::parse
