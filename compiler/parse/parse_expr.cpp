// Operators and postfix forms (rule 3).
#include "parse/body_parser.h"

#include <optional>

namespace melix::parse {

using namespace syntax;

namespace {

struct InfixRow {
  TokenKind token;
  BinaryOp op;
  int level;
};
/// Levels from loosest to tightest; `not`, comparisons, ranges, `as` and `^` have functions of their own.
enum Level {
  LevelOr,
  LevelAnd,
  LevelNot,
  LevelCompare,
  LevelRange,
  LevelBitOr,
  LevelBitAnd,
  LevelShift,
  LevelSum,
  LevelProduct,
  LevelAs
};
constexpr InfixRow infix[] = {
    {TokenKind::KwOr, BinaryOp::Or, LevelOr},          {TokenKind::KwAnd, BinaryOp::And, LevelAnd},
    {TokenKind::EqEq, BinaryOp::Eq, LevelCompare},     {TokenKind::NotEq, BinaryOp::Ne, LevelCompare},
    {TokenKind::Less, BinaryOp::Lt, LevelCompare},     {TokenKind::LessEq, BinaryOp::Le, LevelCompare},
    {TokenKind::Greater, BinaryOp::Gt, LevelCompare},  {TokenKind::GreaterEq, BinaryOp::Ge, LevelCompare},
    {TokenKind::Pipe, BinaryOp::BitOr, LevelBitOr},    {TokenKind::Amp, BinaryOp::BitAnd, LevelBitAnd},
    {TokenKind::Shl, BinaryOp::Shl, LevelShift},       {TokenKind::Shr, BinaryOp::Shr, LevelShift},
    {TokenKind::Plus, BinaryOp::Add, LevelSum},        {TokenKind::Minus, BinaryOp::Sub, LevelSum},
    {TokenKind::Star, BinaryOp::Mul, LevelProduct},    {TokenKind::Slash, BinaryOp::Div, LevelProduct},
    {TokenKind::Percent, BinaryOp::Rem, LevelProduct}, {TokenKind::At, BinaryOp::MatMul, LevelProduct},
};

std::optional<BinaryOp> infixAt(TokenKind token, int level) {
  for (const InfixRow& row : infix)
    if (row.token == token && row.level == level) return row.op;
  return std::nullopt;
}

} // namespace

bool TokenReader::startsOperand() const {
  switch (peek().kind) {
  case TokenKind::Identifier:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Char:
  case TokenKind::StringStart:
  case TokenKind::LParen:
  case TokenKind::LBracket:
  case TokenKind::LBrace:
  case TokenKind::Minus:
  case TokenKind::Amp:
  case TokenKind::At:
  case TokenKind::Dollar:
  case TokenKind::DollarDotDot:
  case TokenKind::KwNot:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
  case TokenKind::KwIf:
  case TokenKind::KwMatch:
  case TokenKind::KwLoop:
  case TokenKind::KwQuote:
  case TokenKind::KwReturn:
  case TokenKind::KwBreak:
  case TokenKind::KwContinue: return true;
  default: return false;
  }
}

/// expr = lambda | or
NodeId BodyParser::parseExpr() { return startsLambda() ? parseLambda() : parseBinary(LevelOr); }

/// or = and { "or" and };  and = not { "and" not };  and so on down the levels
NodeId BodyParser::parseBinary(int level) {
  if (level == LevelNot) return parseNot();
  if (level == LevelCompare) return parseComparison();
  if (level == LevelRange) return parseRange();
  if (level == LevelAs) return parseAs();
  uint32_t begin = peek().begin;
  NodeId left = parseBinary(level + 1);
  unsigned chain = 0;
  while (!recovering_ && continuesLine()) {
    std::optional<BinaryOp> op = infixAt(peek().kind, level);
    if (!op) break;
    if (++chain > maxChain) {
      giveUp(DiagId::ChainTooLong, maxChain);
      break;
    }
    Span opSpan = tokenSpan(take());
    NodeId right = parseBinary(level + 1);
    left = ast_.add(NodeKind::Binary, spanFrom(begin), Binary{*op, left, right, opSpan});
  }
  return left;
}

/// not = "not" not | comparison
NodeId BodyParser::parseNot() {
  if (!is(TokenKind::KwNot)) return parseComparison();
  return nested([&] {
    uint32_t begin = take().begin;
    NodeId operand = parseNot();
    return ast_.add(NodeKind::Unary, spanFrom(begin), Unary{UnaryOp::Not, operand});
  });
}

/// comparison = range [ ("==" | "!=" | "<" | "<=" | ">" | ">=") range ]
NodeId BodyParser::parseComparison() {
  uint32_t begin = peek().begin;
  NodeId left = parseRange();
  auto op = infixAt(peek().kind, LevelCompare);
  if (recovering_ || !op || !continuesLine()) return left;
  Span opSpan = tokenSpan(take());
  NodeId right = parseRange();
  left = ast_.add(NodeKind::Binary, spanFrom(begin), Binary{*op, left, right, opSpan});
  if (!recovering_ && infixAt(peek().kind, LevelCompare) && continuesLine()) {
    const Binary first = ast_[left].as<Binary>();
    const bool isCall = first.op == BinaryOp::Lt && is(TokenKind::Greater) && is(TokenKind::LParen, 1) &&
                        ast_.kind(first.left) == NodeKind::Name && ast_.kind(first.right) == NodeKind::Name;
    const std::string types = "[" + std::string(sources_.text(ast_.span(first.right))) + "]";
    Diagnostic& d = sink_.report(DiagId::ChainedComparison, tokenSpan(peek()));
    if (isCall) // `f<int>(x)`
      d.hint = "types are given in square brackets: `" + std::string(sources_.text(ast_.span(first.left))) +
               types + "(…)`";
    take();
    parseRange();
  }
  return left;
}

/// range = bits [ ".." [ bits [ "step" bits ] ] ]
NodeId BodyParser::parseRange() {
  uint32_t begin = peek().begin;
  NodeId first = parseBinary(LevelBitOr);
  if (recovering_ || !is(TokenKind::DotDot) || !continuesLine()) return first;
  take();
  Range range{first, NodeId::none(), NodeId::none()};
  if (startsOperand()) range.last = parseBinary(LevelBitOr);
  if (!recovering_ && isWord("step") && sameLine()) {
    take();
    range.step = parseBinary(LevelBitOr);
  }
  return ast_.add(NodeKind::Range, spanFrom(begin), range);
}

/// What follows `..`: `k`, `k step c`, or `step c`. A range has a start; a step that is negative turns it
/// around.
NodeId BodyParser::parseWithoutStart(uint32_t begin) {
  const Span dots = spanFrom(begin);
  std::string range = "len(x)";
  auto next = [&] { return std::string(sources_.text(ast_.span(parseBinary(LevelBitOr)))); };
  if (!isWord("step")) range = next();
  bool isBackwards = false;
  if (!recovering_ && isWord("step") && sameLine()) {
    take();
    isBackwards = is(TokenKind::Minus);
    range += " step " + next();
  }
  if (!recovering_) {
    Diagnostic& d = sink_.report(DiagId::RangeWithoutStart, dots, range);
    if (isBackwards) d.hint = "`reverse(x)` goes backwards";
  }
  return errorNode();
}

/// as = prefix { "as" ( type | axis names ) | "?" }: `e as f32?` is `(e as f32)?`
NodeId BodyParser::parseAs() {
  uint32_t begin = peek().begin;
  NodeId value = parsePrefix();
  for (unsigned chain = 0; !recovering_; ++chain) {
    bool cast = is(TokenKind::KwAs);
    if (!cast && (chain == 0 || !is(TokenKind::Question) || !sameLine())) break;
    if (chain > maxChain) {
      giveUp(DiagId::ChainTooLong, maxChain);
      break;
    }
    take();
    if (!cast) {
      value = ast_.add(NodeKind::Try, spanFrom(begin), One{value});
      continue;
    }
    NodeId type = is(TokenKind::LBracket) ? parseAxisNames() : parseType();
    value = ast_.add(NodeKind::As, spanFrom(begin), Two{value, type});
  }
  return value;
}

/// axis names = "[" { name "," } "]"
NodeId BodyParser::parseAxisNames() {
  auto open = static_cast<uint32_t>(at_);
  uint32_t begin = take().begin;
  Scoped inBrackets(ignoreNewlines_, true);
  NodeList axes;
  while (!is(TokenKind::RBracket) && !recovering_) {
    NameId name;
    Span span;
    if (!takeName(name, span)) break;
    axes.push_back(ast_.add(NodeKind::Name, span, Name{name}));
    if (!accept(TokenKind::Comma)) break;
  }
  expectClose(TokenKind::RBracket, open);
  return ast_.add(NodeKind::AxisNames, spanFrom(begin), Many{std::move(axes)});
}

/// prefix = ("-" | "&") prefix | power
NodeId BodyParser::parsePrefix() {
  uint32_t begin = peek().begin;
  if (changesByOne()) {
    fail("an expression");
    return errorNode();
  }
  if (is(TokenKind::Plus)) {
    if (!recovering_) sink_.report(DiagId::NoPlusSign, tokenSpan(peek()));
    take();
    return parsePrefix();
  }
  if (!is(TokenKind::Minus) && !is(TokenKind::Amp)) return parsePower();
  bool doubled = at_ > 0 && tokens_[at_ - 1].kind == TokenKind::Amp;
  if (doubled && is(TokenKind::Amp)) {
    fail("an expression");
    return errorNode();
  }
  return nested([&] {
    bool ref = take().kind == TokenKind::Amp;
    NodeId operand = parsePrefix();
    return ref ? ast_.add(NodeKind::Ref, spanFrom(begin), One{operand})
               : ast_.add(NodeKind::Unary, spanFrom(begin), Unary{UnaryOp::Neg, operand});
  });
}

/// power = postfix [ "^" prefix ]
NodeId BodyParser::parsePower() {
  uint32_t begin = peek().begin;
  NodeId base = parsePostfix();
  if (recovering_ || !is(TokenKind::Caret) || !continuesLine()) return base;
  return nested([&] {
    Span opSpan = tokenSpan(take());
    NodeId exponent = parsePrefix();
    return ast_.add(NodeKind::Binary, spanFrom(begin), Binary{BinaryOp::Pow, base, exponent, opSpan});
  });
}

/// postfix = primary { "." name | "." digits | "(" arguments ")" | "[" items "]" | "?" }
NodeId BodyParser::parsePostfix() {
  uint32_t begin = peek().begin;
  NodeId node = parsePrimary();
  for (unsigned chain = 0; !recovering_; ++chain) {
    if (chain > maxChain) {
      giveUp(DiagId::ChainTooLong, maxChain);
      return node;
    }
    bool opens = is(TokenKind::LParen) || is(TokenKind::LBracket);
    if (opens && peek().newlineBefore) {
      if (ignoreNewlines_) {
        sink_.report(DiagId::BracketNextLine, tokenSpan(peek()), textOf(peek()));
        recovering_ = true;
      }
      return node;
    }
    if (is(TokenKind::Dot)) {
      take();
      if (is(TokenKind::Int)) {
        const Token& digits = take();
        uint32_t index = 0;
        for (char c : textOf(digits))
          index =
              c >= '0' && c <= '9' && index < 100000 ? index * 10 + static_cast<uint32_t>(c - '0') : index;
        node = ast_.add(NodeKind::TupleIndex, spanFrom(begin), TupleIndex{node, index});
        continue;
      }
      NameId name;
      Span span;
      if (takeName(name, span, true))
        node = ast_.add(NodeKind::Member, spanFrom(begin), Member{node, name, span});
    } else if (is(TokenKind::LParen)) {
      if (!enter()) return errorNode();
      auto args = parseArguments();
      --depth_;
      node = ast_.add(NodeKind::Call, spanFrom(begin), Call{node, std::move(args)});
    } else if (is(TokenKind::LBracket)) {
      if (!enter()) return errorNode();
      auto items = parseBracketItems();
      --depth_;
      node = ast_.add(NodeKind::Brackets, spanFrom(begin), Brackets{node, std::move(items)});
    } else if (is(TokenKind::Question) && sameLine()) {
      take();
      node = ast_.add(NodeKind::Try, spanFrom(begin), One{node});
    } else {
      return node;
    }
  }
  return node;
}

/// arguments = "(" { [ name ":" ] expr | generator } ")"; a macro's may be of other kinds
std::vector<Argument> BodyParser::parseArguments(bool ofMacro) {
  auto open = static_cast<uint32_t>(at_);
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  Scoped types(typeItems_, false);
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  std::vector<Argument> out;
  while (!is(TokenKind::RParen) && !recovering_) {
    Argument arg;
    if (startsLabel()) {
      takeName(arg.label, arg.labelSpan);
      take();
    }
    arg.value = is(TokenKind::KwFor)              ? parseGenerator(NodeKind::Generator, peek().begin)
                : ofMacro && startsKindArgument() ? parseQuote(true)
                                                  : parseExpr();
    out.push_back(arg);
    if (!accept(TokenKind::Comma)) break;
  }
  expectClose(TokenKind::RParen, open, "`,` or `)`");
  return out;
}

/// items = "[" { [ name ":" ] item } "]"
std::vector<Argument> BodyParser::parseBracketItems() {
  auto open = static_cast<uint32_t>(at_);
  take();
  Scoped inBrackets(ignoreNewlines_, true);
  Scoped types(typeItems_, true);
  Scoped lambdas(noLambda_, false);
  Scoped braces(noBrace_, false);
  std::vector<Argument> out;
  while (!is(TokenKind::RBracket) && !recovering_) {
    Argument item;
    if (startsLabel()) {
      takeName(item.label, item.labelSpan);
      take();
    }
    item.value = parseBracketItem();
    out.push_back(item);
    if (!accept(TokenKind::Comma)) break;
  }
  if (is(TokenKind::Colon) && !recovering_) {
    fail("`,` or `]`");
    sink_.hintLast("ranges are written `a..b`");
  }
  expectClose(TokenKind::RBracket, open, "`,` or `]`");
  return out;
}

/// item = ":" | ".." | ".." name | "?" name | function type | expr
NodeId BodyParser::parseBracketItem() {
  uint32_t begin = peek().begin;
  if (accept(TokenKind::Colon)) {
    if (startsOperand()) { // `:k`
      fail("`,` or `]`");
      sink_.hintLast("ranges are written `a..b`");
    }
    return ast_.add(NodeKind::Colon, spanFrom(begin));
  }
  if (is(TokenKind::DotDot)) {
    take();
    if (is(TokenKind::Identifier) && (is(TokenKind::Comma, 1) || is(TokenKind::RBracket, 1))) {
      const Token& name = take();
      return ast_.add(NodeKind::PackUse, spanFrom(begin), Name{nameOf(name)});
    }
    if (startsOperand()) return parseWithoutStart(begin);
    return ast_.add(NodeKind::RestAxes, spanFrom(begin));
  }
  if (is(TokenKind::Question)) {
    take();
    NameId name;
    Span span;
    takeName(name, span);
    return ast_.add(NodeKind::FreshDim, spanFrom(begin), Name{name});
  }
  if (is(TokenKind::LParen) && parenBefore(TokenKind::Arrow)) return parseType();
  return parseExpr();
}

} // namespace melix::parse
