// Loops, ranges, declarations and blocks that other languages write otherwise.
#include "parse/other_spellings.h"

#include "parse/token_kinds.h"

#include <algorithm>

namespace melix::parse {

namespace {

/// Whether a range of one token on each side may stand beside a token.
bool borders(const Token& token) {
  return isOpening(token.kind) || isClosing(token.kind) || token.kind == TokenKind::KwIn ||
         token.kind == TokenKind::Comma || token.kind == TokenKind::Colon || token.kind == TokenKind::Equal;
}
bool isEnd(const Token& token) { return token.kind == TokenKind::Int || token.kind == TokenKind::Identifier; }

} // namespace

/// `[e for x in xs if c]`
std::string OtherSpelling::comprehension() const {
  const std::optional<size_t> open = is(TokenKind::KwFor) ? openBracket() : std::nullopt;
  if (!open || *open + 1 == at_) return {};
  const size_t close = matching_[*open];
  auto isClause = [](TokenKind kind) { return kind == TokenKind::KwFor || kind == TokenKind::KwIf; };
  size_t header = findOutside(at_ + 1, close, isClause), filter = header;
  if (header < close && tokens_[header].kind == TokenKind::KwIf)
    filter = findOutside(header + 1, close, isClause);
  const size_t in = findOutside(at_ + 1, close, TokenKind::KwIn);
  const std::string element = textBetween(*open + 1, at_), range = textBetween(in, close);
  std::string names = textBetween(at_ + 1, in);
  const bool isOne = filter == close && findOutside(*open + 1, at_, TokenKind::Comma) == at_;
  if (!isOne || element.empty() || names.empty() || range.empty())
    return "what is collected stands last: `[for x in xs: x * x]`";
  if (findOutside(at_ + 1, in, TokenKind::Comma) < in) names = "(" + names + ")";
  const bool isArray = tokens_[*open].kind == TokenKind::LBracket;
  const std::string built = "for " + names + " " + range + ": " + element;
  return "what is collected stands last: " + code(isArray ? "[" + built + "]" : built);
}

/// `a..b` that ends behind `last`, where each is one token; none if one is more.
std::optional<std::string> OtherSpelling::rangeThrough(const Token& first, const Token& last) const {
  if (!isEnd(first) || !isEnd(last)) return std::nullopt;
  const std::string to(textOf(last));
  const bool isNumber = last.kind == TokenKind::Int && to.size() < 10 &&
                        to.find_first_not_of("0123456789") == std::string::npos;
  return std::string(textOf(first)) + ".." + (isNumber ? std::to_string(std::stoll(to) + 1) : to + " + 1");
}

/// `1..=3`, `..=k`, where each end is one token.
std::string OtherSpelling::inclusiveRange() const {
  if (!is(TokenKind::Equal) || !is(TokenKind::DotDot, -1)) return {};
  const Token &start = around(-2), &last = around(1);
  const bool hasStart = !borders(start);
  if (hasStart && !borders(around(-3))) return {};
  if (!borders(around(2)) && !around(2).newlineBefore) return {};
  const std::optional<std::string> range = rangeThrough(hasStart ? start : last, last);
  if (!range) return {};
  return "a range ends before its last number: " +
         code(hasStart ? *range : "0" + range->substr(range->find("..")));
}

/// Whether a token stands behind the head of a loop: a block, a new line, or the word of another language.
bool OtherSpelling::endsHead(int distance) const {
  const Token& token = around(distance);
  return token.newlineBefore || token.kind == TokenKind::LBrace || token.kind == TokenKind::End ||
         textOf(token) == "do";
}

/// `for i = 1:n`, `for i = 1:2:n`, `for i = 1, n`
std::string OtherSpelling::countingLoop() const {
  if (!is(TokenKind::Equal) || !is(TokenKind::Identifier, -1) || !is(TokenKind::KwFor, -2)) return {};
  auto separates = [&](int distance) {
    return is(TokenKind::Colon, distance) || is(TokenKind::Comma, distance);
  };
  std::optional<std::string> range;
  if (separates(2) && endsHead(4)) range = rangeThrough(around(1), around(3));
  if (separates(2) && separates(4) && endsHead(6)) {
    const bool stepLast = is(TokenKind::Comma, 2);
    const Token &last = around(stepLast ? 3 : 5), &step = around(stepLast ? 5 : 3);
    if (step.kind == TokenKind::Int) range = rangeThrough(around(1), last);
    if (range) *range += " step " + std::string(textOf(step));
  }
  const std::string head = "for " + std::string(textOf(around(-1))) + " in ";
  return "a loop goes through what it is given, and a range ends before its last number: " +
         code(head + range.value_or("a..b"));
}

/// `for i in 1:n`
std::string OtherSpelling::colonRange() const {
  if (!is(TokenKind::Colon) || !is(TokenKind::Int, -1) || around(1).newlineBefore ||
      expected_ != lex::tokenText(TokenKind::LBrace))
    return {};
  const std::optional<std::string> range = endsHead(2) ? rangeThrough(around(-1), around(1)) : std::nullopt;
  if (is(TokenKind::KwIn, -2) && range) return "a range ends before its last number: " + code(*range);
  return "a range is written `a..b`, and ends before `b`";
}

/// `0..10..2`, and `1.. step 2`
std::string OtherSpelling::steppedRange() const {
  if (is(TokenKind::DotDot) && (isEnd(around(-1)) || isClosing(around(-1).kind))) {
    const bool areTokens = is(TokenKind::DotDot, -2) && isEnd(around(-3)) && borders(around(-4)) &&
                           isEnd(around(1)) && endsHead(2);
    const std::string range = areTokens ? textBetween(at_ - 3, at_) : "a..b";
    return "a step stands behind the range: " +
           code(range + " step " + (areTokens ? std::string(textOf(around(1))) : "c"));
  }
  const bool isEndless = is(TokenKind::DotDot, -2) && textOf(around(-1)) == "step";
  return isEndless ? "a range with a step has both ends: `0..n step 2`" : "";
}

/// `let a, b = …`, `for i, x in …`
std::string OtherSpelling::tupleBinding() const {
  if (!is(TokenKind::Comma) || !is(TokenKind::Identifier, -1)) return {};
  const bool isLoop = is(TokenKind::KwFor, -2);
  if (!is(TokenKind::KwLet, -2) && !is(TokenKind::KwVar, -2) && !isLoop) return {};
  const size_t end =
      findOutside(at_, std::min(at_ + 20, tokens_.size()), isLoop ? TokenKind::KwIn : TokenKind::Equal);
  const std::string names = textBetween(at_ - 1, end);
  if (names.empty() || names.size() > 40) return {};
  const size_t body = findOutside(end, std::min(end + 20, tokens_.size()), TokenKind::LBrace);
  if (isLoop && findOutside(end, body, TokenKind::DotDot) != body)
    return "each index goes through a range of its own: `for i in 0..n, j in 0..m { … }`";
  return "a tuple is destructured in brackets: " +
         code(std::string(textOf(around(-2))) + " (" + names + ")" + (isLoop ? " in …" : " = …"));
}

/// `const (a, b) = …`, `const a, b = …`
std::string OtherSpelling::constantTuple() const {
  const bool isTuple = is(TokenKind::LParen) && is(TokenKind::KwConst, -1);
  const bool isList = is(TokenKind::Comma) && is(TokenKind::Identifier, -1) && is(TokenKind::KwConst, -2);
  if (!isTuple && !isList) return {};
  const std::string first(textOf(around(isTuple ? 1 : -1))), second(textOf(around(isTuple ? 3 : 1)));
  return "a constant has one name: " + code("const " + first + " = …") + ", " +
         code("const " + second + " = …");
}

/// `let f(x) = …`
std::string OtherSpelling::functionBinding() const {
  const bool isLet = is(TokenKind::KwLet, -2) || is(TokenKind::KwVar, -2);
  if (!is(TokenKind::LParen) || !is(TokenKind::Identifier, -1) || !isLet) return {};
  const size_t close = matching_[at_];
  if (close == 0 || tokens_[close + 1].kind != TokenKind::Equal) return {};
  return "functions are declared with `fn`: " + code("fn " + textBetween(at_ - 1, close + 1) + " = …");
}

/// `function(x) { … }` as a value
std::string OtherSpelling::functionWord() const {
  if (!is(TokenKind::LBrace) || !is(TokenKind::RParen, -1)) return {};
  const size_t open = openingOf(matching_, at_ - 1).value_or(0);
  if (open == 0) return {};
  const Token& word = tokens_[open - 1];
  constexpr std::string_view words[] = {"function", "func", "fun", "lambda"};
  const bool isFunction = word.kind == TokenKind::Identifier &&
                          std::find(std::begin(words), std::end(words), textOf(word)) != std::end(words);
  return isFunction ? "a function value is written `x => x + 1`" : "";
}

/// `int x = 3`
std::string OtherSpelling::typedDeclaration() const {
  if (!is(TokenKind::Identifier) || !is(TokenKind::Equal, 1) || around(0).newlineBefore) return {};
  if (!is(TokenKind::Identifier, -1) || !beginsStatement(-1) || !habitAt(-1).empty()) return {};
  const std::string name(textOf(around(0)));
  return "`let " + name + " = …` binds a name, `var " + name + " = …` declares a variable";
}

/// `import numpy`, where nothing is to be imported.
std::string OtherSpelling::importedModule() const {
  if (!is(TokenKind::Identifier) || at_ == 0 || around(0).newlineBefore) return {};
  const std::string_view word = textOf(around(-1));
  if (word != "import" && word != "from" && word != "include") return {};
  return std::string(habitHint(HabitKind::Module, textOf(around(0))));
}

/// `if c:`, `if a = b {`, and a body that begins on the next line
std::string OtherSpelling::block() const {
  if (expected_ != lex::tokenText(TokenKind::LBrace)) return {};
  if (is(TokenKind::Equal) && !is(TokenKind::EqEq, -1) && !is(TokenKind::DotDot, -1)) return "`==` compares";
  const bool endsHead = is(TokenKind::Colon) && !is(TokenKind::Equal, 1);
  return endsHead || around(0).newlineBefore ? "a block stands in braces" : "";
}

} // namespace melix::parse
