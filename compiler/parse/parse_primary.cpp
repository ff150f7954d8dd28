// Literals, brackets, builders, lambdas, if and match, macros.
#include "parse/parser.h"

namespace melix::parse {

using namespace syntax;

NodeId Parser::parsePrimary() {
  uint32_t begin = peek().begin;
  switch (peek().kind) {
  case TokenKind::Int: {
    const Token& token = take();
    return ast_.add(NodeKind::IntLit, tokenSpan(token), Text{std::string(textOf(token))});
  }
  case TokenKind::Float: {
    const Token& token = take();
    return ast_.add(NodeKind::FloatLit, tokenSpan(token), Text{std::string(textOf(token))});
  }
  case TokenKind::Char: {
    const Token& token = take();
    return ast_.add(NodeKind::CharLit, tokenSpan(token), Text{stream_.texts[token.text]});
  }
  case TokenKind::KwTrue:
  case TokenKind::KwFalse: {
    const Token& token = take();
    return ast_.add(NodeKind::BoolLit, tokenSpan(token), Text{std::string(textOf(token))});
  }
  case TokenKind::Identifier: {
    const Token& token = take();
    if (textOf(token) == "_")
      return ast_.add(NodeKind::Underscore, tokenSpan(token));
    return ast_.add(NodeKind::Name, tokenSpan(token), Name{nameOf(token)});
  }
  case TokenKind::StringStart: return parseString();
  case TokenKind::LParen: return parseParen();
  case TokenKind::LBracket: return parseBracketLiteral();
  case TokenKind::LBrace: return parseBlock();
  case TokenKind::KwIf: return parseIf();
  case TokenKind::KwMatch: return parseMatch();
  case TokenKind::KwLoop:
    return nested([&] {
      take();
      NodeId body = parseBlock();
      return ast_.add(NodeKind::Loop, spanFrom(begin), One{body});
    });
  case TokenKind::KwReturn: return parseJump(NodeKind::Return);
  case TokenKind::KwBreak: return parseJump(NodeKind::Break);
  case TokenKind::KwContinue: return parseJump(NodeKind::Continue);
  case TokenKind::KwQuote: return parseQuote();
  case TokenKind::Dollar:
  case TokenKind::DollarDotDot: return parseSplice();
  case TokenKind::At: return parseMacroUse();
  default: fail("an expression"); return errorNode();
  }
}

/// paren = "(" ")" | "(" expr ")" | "(" expr "," { expr } ")"
NodeId Parser::parseParen() {
  uint32_t begin = take().begin;
  Scoped inBrackets(ignoreNewlines_, true);
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  NodeList items;
  bool comma = false;
  while (!is(TokenKind::RParen) && !recovering_) {
    items.push_back(parseExpr());
    comma = accept(TokenKind::Comma);
    if (!comma)
      break;
  }
  expect(TokenKind::RParen, "`,` or `)`");
  if (items.size() == 1 && !comma)
    return ast_.add(NodeKind::Paren, spanFrom(begin), One{items[0]});
  return ast_.add(NodeKind::Tuple, spanFrom(begin), Many{std::move(items)});
}

/// array = "[" { expr } "]";  dict = "[" { expr ":" expr } "]";  builder = "[" generator "]"
NodeId Parser::parseBracketLiteral() {
  uint32_t begin = take().begin;
  Scoped inBrackets(ignoreNewlines_, true);
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  if (is(TokenKind::KwFor)) {
    NodeId builder = parseGenerator(NodeKind::Builder, begin);
    expect(TokenKind::RBracket);
    ast_[builder].span = spanFrom(begin);
    return builder;
  }
  NodeList items;
  std::vector<std::pair<NodeId, NodeId>> entries;
  while (!is(TokenKind::RBracket) && !recovering_) {
    NodeId item = parseExpr();
    if (!recovering_ && is(TokenKind::Colon) && items.empty()) {
      take();
      entries.push_back({item, parseExpr()});
    } else {
      items.push_back(item);
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RBracket, "`,` or `]`");
  if (!entries.empty())
    return ast_.add(NodeKind::Dict, spanFrom(begin), DictEntries{std::move(entries)});
  return ast_.add(NodeKind::Array, spanFrom(begin), Many{std::move(items)});
}

/// generator = "for" headers [ "if" expr ] ":" expr
NodeId Parser::parseGenerator(NodeKind kind, uint32_t begin, bool) {
  return nested([&] {
    take();
    Builder builder;
    builder.headers = parseHeaders();
    if (!recovering_ && accept(TokenKind::KwIf)) {
      Scoped filter(noLambda_, true);
      builder.filter = parseExpr();
    }
    if (!recovering_ && expect(TokenKind::Colon))
      builder.body = parseExpr();
    if (!builder.body)
      builder.body = errorNode();
    return ast_.add(kind, spanFrom(begin), std::move(builder));
  });
}

/// headers = header { "," header };  header = ".." name | pattern [ "in" expr ]; there may be none
std::vector<Header> Parser::parseHeaders() {
  std::vector<Header> out;
  if (is(TokenKind::Colon) || is(TokenKind::KwIf))
    return out;
  do {
    Header header;
    uint32_t begin = peek().begin;
    header.isPack = accept(TokenKind::DotDot);
    header.pattern = parsePattern();
    if (!recovering_ && accept(TokenKind::KwIn)) {
      Scoped filter(noLambda_, true);
      header.range = parseExpr();
    }
    header.span = spanFrom(begin);
    out.push_back(header);
  } while (!recovering_ && accept(TokenKind::Comma));
  return out;
}

/// string = '"' { text | "{" expr [ ":" format ] "}" } '"'
NodeId Parser::parseString() {
  return nested([&] {
    uint32_t begin = take().begin;
    Scoped inBrackets(ignoreNewlines_, true);
    Scoped lambdas(noLambda_, false);
    Scoped braces(noBrace_, false);
    StringLit string;
    while (!recovering_ && !is(TokenKind::StringEnd) && !is(TokenKind::End)) {
      StringPart part;
      uint32_t partBegin = peek().begin;
      if (is(TokenKind::StringText)) {
        part.text = stream_.texts[take().text];
      } else {
        part.value = parseExpr();
        NodeKind kind = ast_.kind(part.value);
        if (kind == NodeKind::IntLit || kind == NodeKind::FloatLit || kind == NodeKind::CharLit || kind == NodeKind::BoolLit ||
            kind == NodeKind::String)
          sink_.report(DiagId::BracedLiteral, ast_.span(part.value));
        if (is(TokenKind::FormatEnd))
          part.format = stream_.texts[take().text];
        else
          fail("`}`");
      }
      part.span = spanFrom(partBegin);
      string.parts.push_back(std::move(part));
    }
    if (!recovering_)
      expect(TokenKind::StringEnd);
    return ast_.add(NodeKind::String, spanFrom(begin), std::move(string));
  });
}

bool Parser::startsLambda() const {
  if (noLambda_)
    return false;
  if (is(TokenKind::Identifier))
    return is(TokenKind::FatArrow, 1) && sameLine(1);
  return is(TokenKind::LParen) && parenBefore(TokenKind::FatArrow);
}

/// lambda = ( name | parameters ) "=>" expr
NodeId Parser::parseLambda() {
  uint32_t begin = peek().begin;
  Lambda lambda{};
  if (is(TokenKind::Identifier)) {
    Parameter p;
    const Token& name = take();
    p.name = nameOf(name);
    p.span = tokenSpan(name);
    lambda.params.push_back(p);
  } else {
    lambda.params = parseParameters(true);
  }
  if (!recovering_ && expect(TokenKind::FatArrow))
    lambda.body = parseExpr();
  if (!lambda.body)
    lambda.body = errorNode();
  return ast_.add(NodeKind::Lambda, spanFrom(begin), std::move(lambda));
}

/// if = "if" ( expr | "let" pattern "=" expr ) block [ "else" ( if | block ) ]
NodeId Parser::parseIf() {
  return nested([&] {
    uint32_t begin = take().begin;
    If node{};
    {
      Scoped head(noBrace_, true);
      Scoped lambdas(noLambda_, false);
      uint32_t conditionBegin = peek().begin;
      if (accept(TokenKind::KwLet)) {
        LetCondition let{};
        let.pattern = parsePattern();
        if (!recovering_ && expect(TokenKind::Equal))
          let.value = parseExpr();
        if (!let.value)
          let.value = errorNode();
        node.condition = ast_.add(NodeKind::LetCondition, spanFrom(conditionBegin), let);
      } else {
        node.condition = parseExpr();
      }
    }
    node.then = recovering_ ? errorNode() : parseBlock();
    if (!recovering_ && is(TokenKind::KwElse)) {
      take();
      node.otherwise = is(TokenKind::KwIf) ? parseIf() : parseBlock();
    }
    return ast_.add(NodeKind::If, spanFrom(begin), node);
  });
}

/// match = "match" expr "{" { pattern [ "if" expr ] "=>" expr } "}"
NodeId Parser::parseMatch() {
  return nested([&] {
    uint32_t begin = take().begin;
    Match node;
    {
      Scoped head(noBrace_, true);
      node.scrutinee = parseExpr();
    }
    Scoped newlines(ignoreNewlines_, false);
    Scoped braces(noBrace_, false);
    if (!recovering_ && expect(TokenKind::LBrace)) {
      separators();
      while (!closesBlock() && !recovering_) {
        MatchArm arm;
        uint32_t armBegin = peek().begin;
        arm.pattern = parsePattern();
        if (!recovering_ && accept(TokenKind::KwIf)) {
          Scoped guard(noLambda_, true);
          arm.guard = parseExpr();
        }
        if (recovering_ || !expect(TokenKind::FatArrow))
          break;
        Scoped lambdas(noLambda_, false);
        arm.body = parseStatement();
        arm.span = spanFrom(armBegin);
        node.arms.push_back(arm);
        if (!recovering_ && !closesBlock() && !is(TokenKind::Comma) && !is(TokenKind::Semicolon) && !peek().newlineBefore)
          fail("`,` or a new line");
        separators();
      }
      expect(TokenKind::RBrace);
    }
    return ast_.add(NodeKind::Match, spanFrom(begin), std::move(node));
  });
}

/// quote = "quote" [ "type" | "pattern" ] "{" statements "}"
NodeId Parser::parseQuote() {
  return nested([&] {
    uint32_t begin = take().begin;
    Quote quote{};
    bool type = is(TokenKind::KwType), pattern = isWord("pattern");
    if (type || pattern) {
      quote.what = nameOf(take());
      Scoped newlines(ignoreNewlines_, true);
      if (expect(TokenKind::LBrace)) {
        quote.block = type ? parseType() : parsePattern();
        expect(TokenKind::RBrace);
      }
    } else {
      quote.block = parseBlock();
    }
    if (!quote.block)
      quote.block = errorNode();
    return ast_.add(NodeKind::Quote, spanFrom(begin), quote);
  });
}

/// splice = ( "$" | "$.." ) ( name | "(" expr ")" | array )
NodeId Parser::parseSplice() {
  return nested([&] {
    uint32_t begin = peek().begin;
    NodeKind kind = take().kind == TokenKind::Dollar ? NodeKind::Splice : NodeKind::SpliceMany;
    NodeId inner;
    if (is(TokenKind::LParen))
      inner = parseParen();
    else if (is(TokenKind::LBracket))
      inner = parseBracketLiteral();
    else if (is(TokenKind::Identifier))
      inner = parsePrimary();
    else
      fail("a name or `(`");
    if (!inner)
      inner = errorNode();
    return ast_.add(kind, spanFrom(begin), One{inner});
  });
}

/// macro use = "@" path [ "(" arguments ")" ] [ statement | item | block ]
NodeId Parser::parseMacroUse() {
  return nested([&] {
    uint32_t begin = take().begin;
    MacroUse use{};
    Span span;
    NameId name;
    if (!takeName(name, span))
      return errorNode();
    use.path = ast_.add(NodeKind::Name, span, Name{name});
    while (is(TokenKind::Dot) && !peek().spaceBefore && !recovering_) {
      take();
      if (takeName(name, span, true))
        use.path = ast_.add(NodeKind::Member, spanFrom(begin), Member{use.path, name, span});
    }
    if (is(TokenKind::LParen) && !peek().spaceBefore) {
      use.hasArgs = true;
      use.args = parseArguments();
    }
    if (recovering_)
      return ast_.add(NodeKind::MacroUse, spanFrom(begin), std::move(use));
    bool statement = false;
    switch (peek().kind) {
    case TokenKind::KwLet:
    case TokenKind::KwVar:
    case TokenKind::KwFor:
    case TokenKind::KwWhile:
    case TokenKind::KwLoop:
    case TokenKind::KwIf:
    case TokenKind::KwMatch:
    case TokenKind::KwReturn:
    case TokenKind::KwAssert: statement = !noBrace_; break;
    case TokenKind::At: statement = peek().spaceBefore && !peek().spaceAfter; break;
    default: break;
    }
    if (!peek().newlineBefore && statement) {
      use.target = parseStatement();
    } else if (!peek().newlineBefore && is(TokenKind::LBrace) && !noBrace_) {
      use.target = parseBlock();
    } else if (startsItem() && !noBrace_ && !ignoreNewlines_) {
      NodeList items;
      parseItemInto(items);
      if (!items.empty())
        use.target = items[0];
    }
    return ast_.add(NodeKind::MacroUse, spanFrom(begin), std::move(use));
  });
}

} // namespace melix::parse
