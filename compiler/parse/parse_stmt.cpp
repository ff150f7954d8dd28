// Statements and blocks.
#include "parse/body_parser.h"

#include <algorithm>
#include <optional>

namespace melix::parse {

using namespace syntax;

namespace {

std::optional<BinaryOp> assignOp(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusEq: return BinaryOp::Add;
  case TokenKind::MinusEq: return BinaryOp::Sub;
  case TokenKind::StarEq: return BinaryOp::Mul;
  case TokenKind::SlashEq: return BinaryOp::Div;
  case TokenKind::PercentEq: return BinaryOp::Rem;
  case TokenKind::CaretEq: return BinaryOp::Pow;
  case TokenKind::AtEq: return BinaryOp::MatMul;
  case TokenKind::AmpEq: return BinaryOp::BitAnd;
  case TokenKind::PipeEq: return BinaryOp::BitOr;
  case TokenKind::ShlEq: return BinaryOp::Shl;
  case TokenKind::ShrEq: return BinaryOp::Shr;
  default: return std::nullopt;
  }
}

} // namespace

/// block = "{" { statement } "}" | splice
NodeId BodyParser::parseBlock(bool ofChoice) {
  if (is(TokenKind::Dollar)) return parseSplice();
  return nested([&] {
    uint32_t begin = peek().begin;
    Scoped newlines(ignoreNewlines_, false);
    Scoped lambdas(noLambda_, false);
    Scoped braces(noBrace_, false);
    Scoped types(typeItems_, false);
    NodeList items;
    auto open = static_cast<uint32_t>(at_);
    if (!expect(TokenKind::LBrace)) return errorNode();
    while (accept(TokenKind::Semicolon)) {
    }
    while (!closesBlock()) {
      if (ofChoice && is(TokenKind::KwElse)) { // the brace before it was forgotten
        fail("`}`");
        recovering_ = false;
        return ast_.add(NodeKind::Block, spanFrom(begin), Many{std::move(items)});
      }
      size_t before = at_;
      parseStatementInto(items);
      if (recovering_) skipTo(false);
      if (at_ == before) {
        fail("a statement");
        recovering_ = false;
        take();
      }
      while (accept(TokenKind::Semicolon)) {
      }
    }
    expectClose(TokenKind::RBrace, open);
    return ast_.add(NodeKind::Block, spanFrom(begin), Many{std::move(items)});
  });
}

NodeId BodyParser::parseStatement() {
  statementAt_ = peek().begin;
  switch (peek().kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar: return parseLet();
  case TokenKind::KwFor: return parseFor();
  case TokenKind::KwWhile: return parseWhile();
  case TokenKind::KwAssert: return parseAssert();
  default: return parseExpressionStatement();
  }
}

/// let = ("let" | "var") pattern [ ":" type ] "=" expr [ "else" block ]
NodeId BodyParser::parseLet() {
  uint32_t begin = peek().begin;
  Let let{};
  let.isVar = take().kind == TokenKind::KwVar;
  let.pattern = parsePattern();
  if (!recovering_ && accept(TokenKind::Colon)) let.type = parseType();
  if (let.type && !recovering_ && peek().newlineBefore && !is(TokenKind::Equal)) {
    fail("`=`");
    sink_.hintLast("a name begins with a value: `var x: int = 0`");
  }
  if (recovering_ || !expect(TokenKind::Equal)) return ast_.add(NodeKind::Error, spanFrom(begin));
  let.init = parseExpr();
  if (!recovering_ && is(TokenKind::KwElse)) {
    take();
    let.otherwise = parseBlock();
  }
  return ast_.add(NodeKind::Let, spanFrom(begin), let);
}

/// for = "for" for head { "," for head } [ "if" expr ] block
NodeId BodyParser::parseFor() {
  uint32_t begin = take().begin;
  const bool isForeign =
      is(TokenKind::LParen) && matching_[at_] > at_ && tokens_[matching_[at_] + 1].kind == TokenKind::LBrace;
  if (isForeign) return parseCountingFor();
  For loop;
  do {
    loop.heads.push_back(parseForHead());
  } while (!recovering_ && accept(TokenKind::Comma));
  if (recovering_ && !loop.heads.back().range) return ast_.add(NodeKind::Error, spanFrom(begin));
  if (!recovering_ && is(TokenKind::KwIf) && sameLine()) {
    take();
    Scoped head(noBrace_, true);
    Scoped lambdas(noLambda_, true);
    loop.filter = parseExpr();
    if (!recovering_ && is(TokenKind::Comma)) {
      fail("`{`");
      sink_.hintLast("a filter stands behind the last source: `for x in xs, y in ys if x < y { … }`");
    }
  }
  loop.body = recovering_ ? errorNode() : parseBlock();
  return ast_.add(NodeKind::For, spanFrom(begin), std::move(loop));
}

/// for head = [ "&" ] pattern "in" expr
ForHead BodyParser::parseForHead() {
  ForHead head;
  head.byPlace = accept(TokenKind::Amp);
  head.pattern = parsePattern();
  if (recovering_ || !expect(TokenKind::KwIn)) return head;
  Scoped braces(noBrace_, true);
  head.range = parseExpr();
  return head;
}

/// What stands in brackets behind `for` is no pattern: the loop of another language.
NodeId BodyParser::parseCountingFor() {
  uint32_t begin = peek().begin, close = matching_[at_];
  take();
  fail("a pattern and `in`");
  sink_.hintLast("a loop goes through what it is given: `for i in 0..n { … }`");
  recovering_ = false;
  at_ = close;
  take();
  parseBlock();
  return ast_.add(NodeKind::Error, spanFrom(begin));
}

/// while = "while" condition block
NodeId BodyParser::parseWhile() {
  uint32_t begin = take().begin;
  While loop{};
  loop.condition = parseCondition();
  loop.body = recovering_ ? errorNode() : parseBlock();
  return ast_.add(NodeKind::While, spanFrom(begin), loop);
}

/// assert = "assert" expr [ "," expr ]
NodeId BodyParser::parseAssert() {
  uint32_t begin = take().begin;
  Assert node{};
  node.condition = parseExpr();
  if (!recovering_ && is(TokenKind::Comma) && sameLine()) {
    take();
    node.message = parseExpr();
  }
  return ast_.add(NodeKind::Assert, spanFrom(begin), node);
}

/// scope = "scope" name block;  on = "on" name [ "(" expr ")" ] block
NodeId BodyParser::parseScope() {
  const bool isOn = isWord("on");
  uint32_t begin = take().begin;
  const NameId name = nameOf(take());
  NodeId number;
  if (isOn && is(TokenKind::LParen)) number = nested([&] { return parseParen(); });
  const NodeId body = parseBlock();
  if (isOn) return ast_.add(NodeKind::On, spanFrom(begin), On{name, number, body});
  return ast_.add(NodeKind::Scope, spanFrom(begin), Scope{name, body});
}

/// jump = "break" [ expr ] | "continue" | "return" [ expr ]
NodeId BodyParser::parseJump(NodeKind kind) {
  return nested([&] {
    uint32_t begin = take().begin;
    if (kind == NodeKind::Continue) return ast_.add(kind, spanFrom(begin));
    One value{};
    if (sameLine() && startsOperand()) value.inner = parseExpr();
    return ast_.add(kind, spanFrom(begin), value);
  });
}

/// statement = expr [ ("=" | op "=") expr ] | expr [ ":" type ] "~" expr
NodeId BodyParser::parseExpressionStatement() {
  uint32_t begin = peek().begin;
  NodeId target = parseExpr();
  if (recovering_) return target;
  if (is(TokenKind::Colon) && ast_.kind(target) == NodeKind::Name) {
    take();
    constexpr TokenKind values[] = {TokenKind::Int,         TokenKind::Float,  TokenKind::Char,
                                    TokenKind::StringStart, TokenKind::KwTrue, TokenKind::KwFalse,
                                    TokenKind::LBracket};
    if (std::find(std::begin(values), std::end(values), peek().kind) != std::end(values)) {
      fail("a type");
      sink_.hintLast("what has fields is made by its name: `Point(x: 1.0, y: 2.0)`");
    }
    NodeId type = parseType();
    if (is(TokenKind::Equal) && !recovering_) {
      const std::string name(sources_.text(ast_.span(target)));
      fail("`~`");
      sink_.hintLast("`let " + name + " = …` binds a name, `var " + name + " = …` declares a variable");
    }
    if (!expect(TokenKind::Tilde)) return target;
    Sample sample{target, type, parseExpr()};
    return ast_.add(NodeKind::Sample, spanFrom(begin), sample);
  }
  if (is(TokenKind::Tilde)) {
    take();
    Sample sample{target, NodeId::none(), parseExpr()};
    return ast_.add(NodeKind::Sample, spanFrom(begin), sample);
  }
  if (is(TokenKind::Equal) && sameLine()) {
    take();
    Assign assign{target, parseExpr()};
    return ast_.add(NodeKind::Assign, spanFrom(begin), assign);
  }
  if (auto op = assignOp(peek().kind); op && sameLine()) {
    take();
    OpAssign assign{*op, target, parseExpr()};
    return ast_.add(NodeKind::OpAssign, spanFrom(begin), assign);
  }
  return target;
}

/// { attribute } item | statement, then a newline, `;`, `}` or the end
void BodyParser::parseStatementInto(NodeList& out) {
  if (!parseItemInto(out)) out.push_back(parseStatement());
  if (recovering_) return;
  bool ends = closesBlock() || is(TokenKind::Semicolon) || peek().newlineBefore;
  if (!ends) fail("a new line or `;`");
  while (accept(TokenKind::Semicolon)) {
  }
}

} // namespace melix::parse
