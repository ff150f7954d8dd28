// Values that other languages write otherwise, and what a failing token tells at all.
#include "parse/other_spellings.h"

#include "parse/token_kinds.h"
#include "syntax/ast.h"

#include <algorithm>
#include <cctype>

namespace melix::parse {

/// The token so far from the failing one; an End outside of the file.
const Token& OtherSpelling::around(int distance) const {
  static constexpr Token none{};
  const auto k = static_cast<ptrdiff_t>(at_) + distance;
  return k < 0 || k >= std::ssize(tokens_) ? none : tokens_[static_cast<size_t>(k)];
}

/// The text of the tokens from `first` up to `end`, on one line; empty if it spans several.
std::string OtherSpelling::textBetween(size_t first, size_t end) const {
  if (first >= end || end > tokens_.size()) return {};
  std::string_view text = text_.substr(tokens_[first].begin, tokens_[end - 1].end - tokens_[first].begin);
  return text.find('\n') == std::string_view::npos ? std::string(text) : std::string();
}

/// The next token from `from` on, outside of brackets that open there, that `wanted` holds of; else `end`.
size_t OtherSpelling::findOutside(size_t from, size_t end, FunctionRef<bool(TokenKind)> wanted) const {
  for (unsigned depth = 0; from < end; ++from) {
    const TokenKind kind = tokens_[from].kind;
    if (depth == 0 && wanted(kind)) return from;
    depth += isOpening(kind);
    depth -= depth > 0 && isClosing(kind);
  }
  return end;
}

size_t OtherSpelling::findOutside(size_t from, size_t end, TokenKind wanted) const {
  return findOutside(from, end, [wanted](TokenKind kind) { return kind == wanted; });
}

/// The bracket around the token at hand, if it is closed behind it; else none.
std::optional<size_t> OtherSpelling::openBracket() const {
  unsigned depth = 0;
  for (size_t k = at_; k-- > 0;) {
    const TokenKind kind = tokens_[k].kind;
    if (isOpening(kind) && depth == 0) return matching_[k] > at_ ? std::optional(k) : std::nullopt;
    depth -= isOpening(kind);
    depth += isClosing(kind);
  }
  return std::nullopt;
}

bool OtherSpelling::beginsStatement(int distance) const {
  return around(distance).newlineBefore || is(TokenKind::LBrace, distance - 1) ||
         is(TokenKind::Semicolon, distance - 1) || is(TokenKind::End, distance - 1);
}

/// `Point { x: 1 }`: the same in round brackets, if every field is named.
std::string OtherSpelling::structLiteral() const {
  if (!is(TokenKind::LBrace) || !is(TokenKind::Identifier, -1)) return {};
  const std::string name(textOf(around(-1)));
  if (!syntax::isCapital(name)) return {};
  const size_t close = matching_[at_];
  bool areNamed = close > at_ + 1;
  for (size_t k = at_ + 1; k < close && areNamed;) {
    areNamed = tokens_[k].kind == TokenKind::Identifier && tokens_[k + 1].kind == TokenKind::Colon;
    k = findOutside(k, close, TokenKind::Comma) + 1;
  }
  const std::string fields = areNamed ? textBetween(at_ + 1, close) : "";
  return "a struct is made by its name: " + code(name + "(" + (fields.empty() ? "…" : fields) + ")");
}

/// `f(x=4)`, and `if (x = 4)`
std::string OtherSpelling::namedArgument() const {
  const std::optional<size_t> open = is(TokenKind::Equal) ? openBracket() : std::nullopt;
  if (!open || tokens_[*open].kind != TokenKind::LParen) return {};
  const bool isCall =
      *open > 0 && tokens_[*open - 1].kind == TokenKind::Identifier && !tokens_[*open].spaceBefore;
  if (!isCall) return "`==` compares";
  const bool isName = is(TokenKind::Identifier, -1) && (at_ - 2 == *open || is(TokenKind::Comma, -2));
  return isName ? "an argument is named with a colon: " + code(std::string(textOf(around(-1))) + ": …") : "";
}

/// `[0; 10]`, `[1, 2; 3, 4]`, `[1; 2; 3]`
std::string OtherSpelling::semicolonInArray() const {
  const std::optional<size_t> open = is(TokenKind::Semicolon) ? openBracket() : std::nullopt;
  if (!open || tokens_[*open].kind != TokenKind::LBracket) return {};
  const size_t close = matching_[*open];
  std::string rows;
  bool isColumn = true, areRows = true;
  for (size_t k = *open + 1; k < close;) {
    const size_t end = findOutside(k, close, TokenKind::Semicolon);
    const std::string row = textBetween(k, end);
    isColumn &= findOutside(k, end, TokenKind::Comma) == end;
    areRows &= !row.empty();
    rows += (rows.empty() ? "[" : ", [") + row + "]";
    k = end + 1;
  }
  const size_t second = findOutside(at_ + 1, close, TokenKind::Semicolon);
  if (!isColumn) return "rows are written " + code(areRows ? "[" + rows + "]" : "[[1, 2], [3, 4]]");
  const std::string element = textBetween(*open + 1, at_), count = textBetween(at_ + 1, second);
  if (element.empty() || count.empty()) return {};
  const bool repeats = second == close && findOutside(at_ + 1, close, TokenKind::Float) == close;
  return repeats ? "write " + code("[for _ in 0.." + count + ": " + element + "]")
                 : "a comma stands between elements: " + code("[" + element + ", " + count + ", …]");
}

/// `{1, 2}`, `{"a": 1}`
std::string OtherSpelling::bracedElements() const {
  const std::optional<size_t> open =
      is(TokenKind::Comma) || is(TokenKind::Colon) ? openBracket() : std::nullopt;
  if (!open || *open == 0 || tokens_[*open].kind != TokenKind::LBrace) return {};
  constexpr TokenKind beforeValues[] = {TokenKind::Equal, TokenKind::LParen,   TokenKind::LBracket,
                                        TokenKind::Comma, TokenKind::KwReturn, TokenKind::KwIn};
  const TokenKind before = tokens_[*open - 1].kind;
  if (std::find(std::begin(beforeValues), std::end(beforeValues), before) == std::end(beforeValues))
    return {};
  const std::string elements = textBetween(*open + 1, matching_[*open]);
  if (is(TokenKind::Colon))
    return "a Dict stands in square brackets: " + code("[" + (elements.empty() ? "…" : elements) + "]");
  return "an array stands in square brackets: " + code("[" + (elements.empty() ? "…" : elements) + "]");
}

/// `List<int>`, `fn id<T>`
std::string OtherSpelling::angleBrackets() const {
  if (!is(TokenKind::Less) || !is(TokenKind::Identifier, -1)) return {};
  const std::string name(textOf(around(-1)));
  if (is(TokenKind::KwFn, -2) || is(TokenKind::KwStruct, -2) || is(TokenKind::KwEnum, -2)) {
    const std::string params =
        textBetween(at_ + 1, findOutside(at_ + 1, std::min(at_ + 20, tokens_.size()), TokenKind::Greater));
    return "what stands for types is declared in square brackets: " +
           code(name + "[" + (params.empty() ? "T" : params) + "]");
  }
  return syntax::isCapital(name) ? "the parameters of a type stand in brackets: " + code(name + "[…]") : "";
}

/// `.5`
std::string OtherSpelling::pointFirst() const {
  if (!is(TokenKind::Dot) || !is(TokenKind::Int, 1) || !touches(0) || is(TokenKind::DotDot, -1)) return {};
  return "a float has a digit on both sides of the point: " + code("0." + std::string(textOf(around(1))));
}

/// `f"…"`
std::string OtherSpelling::textAfterName() const {
  if (!is(TokenKind::StringStart) || !is(TokenKind::Identifier, -1) || !touches(-1)) return {};
  const std::string name(textOf(around(-1)));
  if (name == "b") return "the bytes of a string are `\"…\".bytes`";
  return "every string interpolates values in braces: without the " + code(name) + " in front";
}

/// `print x`, `sqrt 2`
std::string OtherSpelling::callWithoutBrackets() const {
  const bool isCallee =
      is(TokenKind::Identifier, -1) && !around(0).newlineBefore && !isOpening(around(-2).kind);
  if (!isCallee || expected_ == lex::tokenText(TokenKind::Equal)) return {};
  const std::string name(textOf(around(-1)));
  const bool isPrinted = is(TokenKind::Identifier) && name == "print"; // a word that takes what follows it
  if (!is(TokenKind::StringStart) && !isLiteral(around(0).kind) && !isPrinted) return {};
  return "what a function is called with stands in brackets: " + code(name + "(…)");
}

/// `{ … ]`
std::string OtherSpelling::closedOtherwise() const {
  const std::optional<size_t> open = isClosing(around(0).kind) ? openingOf(matching_, at_) : std::nullopt;
  if (!open) return {};
  switch (tokens_[*open].kind) {
  case TokenKind::LParen:
    return is(TokenKind::RParen) ? "" : "the bracket that is open here is closed by `)`";
  case TokenKind::LBracket:
    return is(TokenKind::RBracket) ? "" : "the bracket that is open here is closed by `]`";
  default: return is(TokenKind::RBrace) ? "" : "the block that is open here is closed by `}`";
  }
}

/// `[1 2]`
std::string OtherSpelling::missingComma() const {
  const TokenKind kind = around(0).kind;
  const bool beginsValue = isLiteral(kind) || kind == TokenKind::Identifier || kind == TokenKind::StringStart;
  const std::optional<size_t> open = beginsValue ? openBracket() : std::nullopt;
  const bool inBrackets = open && tokens_[*open].kind != TokenKind::LBrace;
  return inBrackets && endsValue(around(-1).kind) ? "is a comma missing?" : "";
}

/// What a sign or a word of another language at a token is in Melix.
std::string_view OtherSpelling::habitAt(int distance) const {
  const Token& token = around(distance);
  const bool declares = token.newlineBefore || is(TokenKind::Identifier, -1);
  if (token.kind == TokenKind::KwFn && distance == 0 && declares) return {};
  const std::string_view rest = text_.substr(std::min<size_t>(token.begin, text_.size()));
  const bool isWord = !rest.empty() && std::isalpha(static_cast<unsigned char>(rest[0]));
  return habitHint(isWord ? HabitKind::Word : HabitKind::Sign, rest);
}

/// The same of the failing token, or of one just before it on its line.
std::string_view OtherSpelling::habit() const {
  if (at_ > 0 && !around(0).newlineBefore) {
    const bool isChoice = is(TokenKind::Question, -1), isDouble = isChoice && is(TokenKind::Question, -2);
    if (is(TokenKind::Identifier, -1) || isChoice || touches(-1))
      if (std::string_view hint = habitAt(isDouble ? -2 : -1); !hint.empty()) return hint;
  }
  return habitAt(0);
}

std::string OtherSpelling::hint() const {
  using Shape = std::string (OtherSpelling::*)() const;
  constexpr Shape shapes[] = {
      &OtherSpelling::structLiteral,   &OtherSpelling::comprehension,    &OtherSpelling::inclusiveRange,
      &OtherSpelling::countingLoop,    &OtherSpelling::colonRange,       &OtherSpelling::steppedRange,
      &OtherSpelling::namedArgument,   &OtherSpelling::tupleBinding,     &OtherSpelling::constantTuple,
      &OtherSpelling::functionBinding, &OtherSpelling::functionWord,     &OtherSpelling::semicolonInArray,
      &OtherSpelling::bracedElements,  &OtherSpelling::angleBrackets,    &OtherSpelling::importedModule,
      &OtherSpelling::pointFirst,      &OtherSpelling::typedDeclaration, &OtherSpelling::block,
      &OtherSpelling::closedOtherwise};
  constexpr Shape weakShapes[] = {&OtherSpelling::textAfterName, &OtherSpelling::callWithoutBrackets,
                                  &OtherSpelling::missingComma};
  for (Shape shape : shapes)
    if (std::string hint = (this->*shape)(); !hint.empty()) return hint;
  if (std::string_view hint = habit(); !hint.empty()) return std::string(hint);
  for (Shape shape : weakShapes)
    if (std::string hint = (this->*shape)(); !hint.empty()) return hint;
  return {};
}

} // namespace melix::parse
