// Literals, brackets, builders, lambdas, if and match.
#include "parse/body_parser.h"

namespace melix::parse {

using namespace syntax;

NodeId BodyParser::parsePrimary() {
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
    const bool isOn = isWord("on"), isNamed = is(TokenKind::Identifier, 1) && sameLine(1) && sameLine(2);
    if ((isOn || isWord("scope")) && isNamed &&
        (is(TokenKind::LBrace, 2) || (isOn && is(TokenKind::LParen, 2))))
      return parseScope();
    const Token& token = take();
    if (textOf(token) == "_") return ast_.add(NodeKind::Underscore, tokenSpan(token));
    return ast_.add(NodeKind::Name, tokenSpan(token), Name{nameOf(token)});
  }
  case TokenKind::StringStart: return parseString();
  case TokenKind::LParen:
    if (typeItems_ && parenBefore(TokenKind::Arrow)) return parseType();
    return nested([&] { return parseParen(); });
  case TokenKind::LBracket: return nested([&] { return parseBracketLiteral(); });
  case TokenKind::LBrace: return parseBlock();
  case TokenKind::KwIf: return parseIf();
  case TokenKind::KwMatch: return parseMatch();
  case TokenKind::KwLoop: {
    take();
    NodeId body = parseBlock();
    return ast_.add(NodeKind::Loop, spanFrom(begin), One{body});
  }
  case TokenKind::KwReturn: return parseJump(NodeKind::Return);
  case TokenKind::KwBreak: return parseJump(NodeKind::Break);
  case TokenKind::KwContinue: return parseJump(NodeKind::Continue);
  case TokenKind::KwQuote: return parseQuote();
  case TokenKind::Dollar:
  case TokenKind::DollarDotDot: return parseSplice();
  case TokenKind::At: return parseMacroUse();
  case TokenKind::DotDot:
    take();
    if (startsOperand()) return parseWithoutStart(begin);
    fail("an expression");
    return errorNode();
  default: fail("an expression"); return errorNode();
  }
}

/// paren = "(" ")" | "(" expr ")" | "(" expr "," { expr } ")"
NodeId BodyParser::parseParen() {
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  return parseTuple(peek().begin, [this] { return parseExpr(); }, "`,` or `)`");
}

NodeId BodyParser::parseTuple(uint32_t begin, FunctionRef<NodeId()> part, std::string_view expected) {
  auto open = static_cast<uint32_t>(at_);
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  NodeList parts;
  bool comma = false;
  while (!is(TokenKind::RParen) && !recovering_) {
    parts.push_back(part());
    comma = accept(TokenKind::Comma);
    if (!comma) break;
  }
  expectClose(TokenKind::RParen, open, expected);
  if (parts.size() == 1 && !comma) return ast_.add(NodeKind::Paren, spanFrom(begin), One{parts[0]});
  return ast_.add(NodeKind::Tuple, spanFrom(begin), Many{std::move(parts)});
}

/// array = "[" { expr } "]";  dict = "[" { expr ":" expr } "]";  builder = "[" generator "]"
NodeId BodyParser::parseBracketLiteral() {
  auto open = static_cast<uint32_t>(at_);
  uint32_t begin = take().begin;
  Scoped inBrackets(ignoreNewlines_, true);
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  Scoped types(typeItems_, false);
  if (is(TokenKind::KwFor)) {
    NodeId builder = parseGenerator(NodeKind::Builder, begin);
    expectClose(TokenKind::RBracket, open);
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
    if (!accept(TokenKind::Comma)) break;
  }
  expectClose(TokenKind::RBracket, open, "`,` or `]`");
  if (!entries.empty()) return ast_.add(NodeKind::Dict, spanFrom(begin), DictEntries{std::move(entries)});
  return ast_.add(NodeKind::Array, spanFrom(begin), Many{std::move(items)});
}

/// generator = "for" headers [ "if" expr ] ":" expr
NodeId BodyParser::parseGenerator(NodeKind kind, uint32_t begin) {
  take();
  Builder builder;
  builder.headers = parseHeaders();
  if (!recovering_ && accept(TokenKind::KwIf)) {
    Scoped filter(noLambda_, true);
    builder.filter = parseExpr();
  }
  refuseLambda();
  if (!recovering_ && expect(TokenKind::Colon)) builder.body = parseExpr();
  if (!builder.body) builder.body = errorNode();
  return ast_.add(kind, spanFrom(begin), std::move(builder));
}

/// After a range or filter, where `x => e` would be taken apart.
void TokenReader::refuseLambda() {
  if (recovering_ || !is(TokenKind::FatArrow)) return;
  sink_.report(DiagId::LambdaHere, tokenSpan(peek()));
  recovering_ = true;
}

/// headers = header { "," header };  header = ".." name | pattern [ "in" expr ]; there may be none
std::vector<Header> BodyParser::parseHeaders() {
  std::vector<Header> out;
  if (is(TokenKind::Colon) || is(TokenKind::KwIf)) return out;
  do {
    Header header;
    uint32_t begin = peek().begin;
    header.isPack = accept(TokenKind::DotDot);
    if (header.isPack) {
      NameId name;
      Span span;
      header.pattern = takeName(name, span) ? ast_.add(NodeKind::Name, span, Name{name}) : errorNode();
    } else {
      header.pattern = parsePattern();
    }
    if (!recovering_ && accept(TokenKind::KwIn)) {
      Scoped filter(noLambda_, true);
      Scoped head(noBrace_, true);
      header.range = parseExpr();
    }
    header.span = spanFrom(begin);
    out.push_back(header);
  } while (!recovering_ && accept(TokenKind::Comma));
  return out;
}

/// string = '"' { text | "{" expr [ ":" format ] "}" } '"'; the format may hold "{" expr "}"
NodeId BodyParser::parseString() {
  return nested([&] {
    uint32_t begin = take().begin;
    Scoped inBrackets(ignoreNewlines_, true);
    Scoped lambdas(noLambda_, false);
    Scoped braces(noBrace_, false);
    Scoped types(typeItems_, false);
    StringLit string;
    while (!recovering_ && !is(TokenKind::StringEnd) && !is(TokenKind::End)) {
      StringPart part;
      uint32_t partBegin = peek().begin;
      if (is(TokenKind::StringText)) {
        part.text = stream_.texts[take().text];
      } else {
        if (is(TokenKind::FormatEnd) && !recovering_) {
          fail("an expression");
          sink_.hintLast("the value stands in the braces: `\"{x}\"`; `{{` and `}}` are braces of the string");
        }
        part.value = parseExpr();
        NodeKind kind = ast_.kind(part.value);
        bool literal = kind == NodeKind::IntLit || kind == NodeKind::FloatLit || kind == NodeKind::CharLit ||
                       kind == NodeKind::BoolLit || kind == NodeKind::String;
        const bool refused = literal && !recovering_ && !inUnclosedString(ast_.span(part.value).begin);
        if (refused) sink_.report(DiagId::BracedLiteral, ast_.span(part.value));
        while (!recovering_ && is(TokenKind::FormatText)) {
          part.format += stream_.texts[take().text] + "{}";
          part.formatValues.push_back(parseExpr());
        }
        if (is(TokenKind::FormatEnd))
          part.format += stream_.texts[take().text];
        else
          fail("`}`");
        if (refused && !part.format.empty() && part.formatValues.empty())
          sink_.hintLast(
              "what is formatted has a name: `let s = " + std::string(sources_.text(ast_.span(part.value))) +
              "`, then `\"{s:" + part.format + "}\"`");
      }
      part.span = spanFrom(partBegin);
      string.parts.push_back(std::move(part));
    }
    if (!recovering_) expect(TokenKind::StringEnd);
    return ast_.add(NodeKind::String, spanFrom(begin), std::move(string));
  });
}

bool BodyParser::startsLambda() const {
  if (noLambda_) return false;
  if (is(TokenKind::Identifier)) return is(TokenKind::FatArrow, 1) && sameLine(1);
  if (is(TokenKind::Dollar)) return is(TokenKind::Identifier, 1) && is(TokenKind::FatArrow, 2) && sameLine(2);
  return is(TokenKind::LParen) && parenBefore(TokenKind::FatArrow);
}

/// lambda = ( name | splice | parameters ) "=>" expr
NodeId BodyParser::parseLambda() {
  uint32_t begin = peek().begin;
  Lambda lambda{};
  if (is(TokenKind::Identifier)) {
    Parameter p;
    const Token& name = take();
    p.name = nameOf(name);
    p.span = tokenSpan(name);
    lambda.params.push_back(p);
  } else if (startsSplice()) {
    Parameter p;
    p.pattern = parseSplice();
    p.span = spanFrom(begin);
    lambda.params.push_back(p);
  } else {
    lambda.params = parseParameters(true);
  }
  if (!recovering_ && expect(TokenKind::FatArrow)) lambda.body = nested([&] { return parseExpr(); });
  if (!lambda.body) lambda.body = errorNode();
  return ast_.add(NodeKind::Lambda, spanFrom(begin), std::move(lambda));
}

/// if = "if" condition block [ "else" ( if | block ) ]
NodeId BodyParser::parseIf() {
  struct Link {
    uint32_t begin;
    If node;
  };
  std::vector<Link> chain; // each later one stands in the `else` of the one before
  NodeId last;
  while (true) {
    If& node = chain.emplace_back(Link{take().begin, {}}).node;
    node.condition = nested([&] { return parseCondition(); });
    node.then = recovering_ ? errorNode() : parseBlock(true);
    if (recovering_ || !accept(TokenKind::KwElse)) break;
    if (chain.size() > maxChain) giveUp(DiagId::ChainTooLong, maxChain);
    if (is(TokenKind::KwIf)) continue;
    last = parseBlock();
    break;
  }
  for (; !chain.empty(); chain.pop_back()) {
    chain.back().node.otherwise = last;
    last = ast_.add(NodeKind::If, spanFrom(chain.back().begin), chain.back().node);
  }
  return last;
}

/// condition = expr | "let" pattern "=" not
NodeId BodyParser::parseCondition() {
  Scoped head(noBrace_, true);
  Scoped lambdas(noLambda_, false);
  uint32_t begin = peek().begin;
  if (!accept(TokenKind::KwLet)) return parseExpr();
  LetCondition let{};
  let.pattern = parsePattern();
  if (!recovering_ && expect(TokenKind::Equal)) let.value = withoutConditions(parseExpr());
  if (!let.value) let.value = errorNode();
  return ast_.add(NodeKind::LetCondition, spanFrom(begin), let);
}

/// The first of what `and` and `or` join behind `if let`: the others are reported.
NodeId BodyParser::withoutConditions(NodeId value) {
  auto joins = [&](NodeId node) {
    if (ast_.kind(node) != NodeKind::Binary) return false;
    const BinaryOp op = ast_[node].as<Binary>().op;
    return op == BinaryOp::And || op == BinaryOp::Or;
  };
  Span first;
  for (; joins(value); value = ast_[value].as<Binary>().left) first = ast_[value].as<Binary>().opSpan;
  if (first.valid() && !recovering_)
    sink_.report(DiagId::Expected, first, "`{`", "`" + std::string(sources_.text(first)) + "`",
                 "`let` takes no further condition: an `if` inside of the block does");
  return value;
}

/// match = "match" expr "{" { arm } "}"
NodeId BodyParser::parseMatch() {
  return nested([&] {
    uint32_t begin = take().begin;
    Match node;
    {
      Scoped head(noBrace_, true);
      Scoped lambdas(noLambda_, false);
      node.scrutinee = parseExpr();
    }
    Scoped newlines(ignoreNewlines_, false);
    Scoped braces(noBrace_, false);
    Scoped types(typeItems_, false);
    auto open = static_cast<uint32_t>(at_);
    if (!recovering_ && expect(TokenKind::LBrace)) {
      separators();
      while (!closesBlock() && !missesBrace(open)) {
        size_t before = at_;
        node.arms.push_back(parseMatchArm(node.arms.empty()));
        endsElement();
        if (recovering_) skipTo(true);
        separators();
        if (at_ == before) break;
      }
      if (!missesBrace(open)) expectClose(TokenKind::RBrace, open);
    }
    return ast_.add(NodeKind::Match, spanFrom(begin), std::move(node));
  });
}

/// arm = pattern [ "if" expr ] "=>" statement | splice
MatchArm BodyParser::parseMatchArm(bool first) {
  MatchArm arm;
  uint32_t begin = peek().begin;
  const bool mayBeSpliced = startsSplice();
  arm.pattern = parsePattern();
  const bool ends = closesBlock() || is(TokenKind::Comma) || is(TokenKind::Semicolon) || peek().newlineBefore;
  if (mayBeSpliced && !recovering_ && ends) {
    arm.span = spanFrom(begin);
    return arm;
  }
  if (!recovering_ && accept(TokenKind::KwIf)) {
    Scoped guard(noLambda_, true);
    arm.guard = parseExpr();
  }
  if (is(TokenKind::DotDot) && !recovering_) {
    fail(lex::tokenText(TokenKind::FatArrow));
    sink_.hintLast("a range is no pattern: `k if a <= k and k < b => …`");
  }
  bool thinArrow = is(TokenKind::Arrow) && !recovering_;
  if (thinArrow) {
    if (first) {
      fail(lex::tokenText(TokenKind::FatArrow));
      sink_.hintLast("an arm is written `pattern => value`");
      recovering_ = false;
    }
    take();
  }
  if (!recovering_ && (thinArrow || expect(TokenKind::FatArrow))) {
    Scoped lambdas(noLambda_, false);
    arm.body = parseStatement();
  }
  if (!arm.body) arm.body = errorNode();
  arm.span = spanFrom(begin);
  return arm;
}

} // namespace melix::parse
