// What other languages write in several tokens, where the parser fails on it: the same in Melix.
#include "parse/token_reader.h"

namespace melix::parse {

namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

bool isOpening(TokenKind kind) {
  return kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
}
bool isClosing(TokenKind kind) {
  return kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
}

} // namespace

/// The text of the tokens from `first` up to `end`, on one line; empty if it spans several.
std::string TokenReader::textBetween(size_t first, size_t end) const {
  if (first >= end || end > tokens_.size()) return {};
  std::string_view text = sources_.text(Span{stream_.file, tokens_[first].begin, tokens_[end - 1].end});
  return text.find('\n') == std::string_view::npos ? std::string(text) : std::string();
}

/// The next token from `from` on, outside of brackets that open there, that `wanted` holds of; else `end`.
size_t TokenReader::findOutside(size_t from, size_t end, const std::function<bool(TokenKind)>& wanted) const {
  for (unsigned depth = 0; from < end; ++from) {
    const TokenKind kind = tokens_[from].kind;
    if (depth == 0 && wanted(kind)) return from;
    depth += isOpening(kind);
    depth -= depth > 0 && isClosing(kind);
  }
  return end;
}

/// The bracket around the token at hand, if it is closed behind it; else none.
std::optional<size_t> TokenReader::openBracket() const {
  unsigned depth = 0;
  for (size_t k = at_; k-- > 0;) {
    const TokenKind kind = tokens_[k].kind;
    if (isOpening(kind) && depth == 0) return matching_[k] > at_ ? std::optional(k) : std::nullopt;
    depth -= isOpening(kind);
    depth += isClosing(kind);
  }
  return std::nullopt;
}

/// `Point { x: 1 }`: the same in round brackets, if every field is named.
std::string TokenReader::structLiteral() const {
  if (!is(TokenKind::LBrace) || at_ == 0 || tokens_[at_ - 1].kind != TokenKind::Identifier) return {};
  const std::string name(textOf(tokens_[at_ - 1]));
  if (!syntax::isCapital(name)) return {};
  const size_t close = matching_[at_];
  bool areNamed = close > at_ + 1;
  for (size_t k = at_ + 1; k < close && areNamed;) {
    areNamed = tokens_[k].kind == TokenKind::Identifier && tokens_[k + 1].kind == TokenKind::Colon;
    k = findOutside(k, close, [](TokenKind kind) { return kind == TokenKind::Comma; }) + 1;
  }
  const std::string fields = areNamed ? textBetween(at_ + 1, close) : "";
  return "a struct is made by its name: " + code(name + "(" + (fields.empty() ? "…" : fields) + ")");
}

/// `[e for x in xs if c]`
std::string TokenReader::comprehension() const {
  const std::optional<size_t> open = is(TokenKind::KwFor) ? openBracket() : std::nullopt;
  if (!open || *open + 1 == at_) return {};
  const size_t close = matching_[*open];
  auto isClause = [](TokenKind kind) { return kind == TokenKind::KwFor || kind == TokenKind::KwIf; };
  size_t header = findOutside(at_ + 1, close, isClause), filter = header;
  if (header < close && tokens_[header].kind == TokenKind::KwIf)
    filter = findOutside(header + 1, close, isClause);
  const std::string element = textBetween(*open + 1, at_), clauses = textBetween(at_, close);
  const bool isOne = filter == close && findOutside(*open + 1, at_, [](TokenKind kind) {
                                          return kind == TokenKind::Comma;
                                        }) == at_;
  if (!isOne || element.empty() || clauses.empty())
    return "what is collected stands last: `[for x in xs: x * x]`";
  const bool isArray = tokens_[*open].kind == TokenKind::LBracket;
  const std::string built = clauses + ": " + element;
  return "what is collected stands last: " + code(isArray ? "[" + built + "]" : built);
}

/// `1..=3`, `..=k`, where each end is one token.
std::string TokenReader::inclusiveRange() const {
  if (!is(TokenKind::Equal) || at_ < 2 || tokens_[at_ - 1].kind != TokenKind::DotDot ||
      at_ + 2 >= tokens_.size())
    return {};
  auto isEnd = [](const Token& token) {
    return token.kind == TokenKind::Int || token.kind == TokenKind::Identifier;
  };
  auto borders = [](const Token& token) {
    return isOpening(token.kind) || isClosing(token.kind) || token.kind == TokenKind::KwIn ||
           token.kind == TokenKind::Comma || token.kind == TokenKind::Colon || token.kind == TokenKind::Equal;
  };
  const Token &start = tokens_[at_ - 2], &last = tokens_[at_ + 1];
  const bool hasStart = !borders(start);
  if (hasStart && (!isEnd(start) || at_ < 3 || !borders(tokens_[at_ - 3]))) return {};
  if (!isEnd(last) || !(borders(tokens_[at_ + 2]) || tokens_[at_ + 2].newlineBefore)) return {};
  const std::string from(hasStart ? textOf(start) : "0"), to(textOf(last));
  const bool isNumber = last.kind == TokenKind::Int && to.size() < 10 &&
                        to.find_first_not_of("0123456789") == std::string::npos;
  return "a range ends before its last number: " +
         code(from + ".." + (isNumber ? std::to_string(std::stoll(to) + 1) : to + " + 1"));
}

/// `f(x=4)`
std::string TokenReader::namedArgument() const {
  const std::optional<size_t> open = is(TokenKind::Equal) ? openBracket() : std::nullopt;
  if (!open || *open == 0 || tokens_[*open].kind != TokenKind::LParen) return {};
  const bool isCall = tokens_[*open - 1].kind == TokenKind::Identifier && !tokens_[*open].spaceBefore;
  const bool isName = tokens_[at_ - 1].kind == TokenKind::Identifier &&
                      (at_ - 2 == *open || tokens_[at_ - 2].kind == TokenKind::Comma);
  if (!isCall || !isName) return {};
  return "an argument is named with a colon: " + code(std::string(textOf(tokens_[at_ - 1])) + ": …");
}

/// `let a, b = …`, `for i, x in …`
std::string TokenReader::tupleBinding() const {
  if (!is(TokenKind::Comma) || at_ < 2 || tokens_[at_ - 1].kind != TokenKind::Identifier) return {};
  const TokenKind before = tokens_[at_ - 2].kind;
  const bool isLoop = before == TokenKind::KwFor;
  if (before != TokenKind::KwLet && before != TokenKind::KwVar && !isLoop) return {};
  const TokenKind behind = isLoop ? TokenKind::KwIn : TokenKind::Equal;
  const size_t end = findOutside(at_, std::min(at_ + 20, tokens_.size()),
                                 [behind](TokenKind kind) { return kind == behind; });
  const std::string names = textBetween(at_ - 1, end);
  if (names.empty() || names.size() > 40) return {};
  return "a tuple is taken apart in brackets: " +
         code(std::string(textOf(tokens_[at_ - 2])) + " (" + names + ")" + (isLoop ? " in …" : " = …"));
}

/// `[0; 10]`
std::string TokenReader::repeatedElement() const {
  const std::optional<size_t> open = is(TokenKind::Semicolon) ? openBracket() : std::nullopt;
  if (!open || tokens_[*open].kind != TokenKind::LBracket) return {};
  const std::string element = textBetween(*open + 1, at_), count = textBetween(at_ + 1, matching_[*open]);
  if (element.empty() || count.empty()) return {};
  return "write " + code("[for _ in 0.." + count + ": " + element + "]");
}

/// `List<int>`
std::string TokenReader::angleBrackets() const {
  if (!is(TokenKind::Less) || at_ == 0 || tokens_[at_ - 1].kind != TokenKind::Identifier) return {};
  const std::string name(textOf(tokens_[at_ - 1]));
  return syntax::isCapital(name) ? "the parameters of a type stand in brackets: " + code(name + "[…]") : "";
}

/// `import numpy`, where nothing is to be imported.
std::string TokenReader::importedModule() const {
  if (!is(TokenKind::Identifier) || at_ == 0 || peek().newlineBefore) return {};
  const std::string_view word = textOf(tokens_[at_ - 1]);
  if (word != "import" && word != "from" && word != "include") return {};
  return std::string(melix::habitHint(HabitKind::Module, textOf(peek())));
}

/// `f"…"`, and `print "…"`
std::string TokenReader::textAfterName() const {
  if (!is(TokenKind::StringStart) || at_ == 0 || tokens_[at_ - 1].kind != TokenKind::Identifier ||
      peek().newlineBefore)
    return {};
  const std::string name(textOf(tokens_[at_ - 1]));
  if (!peek().spaceBefore)
    return "a text holds values in braces as it is: without the " + code(name) + " in front";
  return "what a function is called with stands in brackets: " + code(name + "(…)");
}

/// What the tokens here, which fail to be Melix, are in it; empty if nothing is known.
std::string TokenReader::otherSpelling() const {
  using Shape = std::string (TokenReader::*)() const;
  constexpr Shape shapes[] = {&TokenReader::structLiteral,  &TokenReader::comprehension,
                              &TokenReader::inclusiveRange, &TokenReader::namedArgument,
                              &TokenReader::tupleBinding,   &TokenReader::repeatedElement,
                              &TokenReader::angleBrackets,  &TokenReader::importedModule};
  for (Shape shape : shapes)
    if (std::string hint = (this->*shape)(); !hint.empty()) return hint;
  if (std::string_view hint = habitHint(); !hint.empty()) return std::string(hint);
  return textAfterName();
}

} // namespace melix::parse
