#include "parse/token_reader.h"

#include "parse/other_spellings.h"
#include "parse/parse.h"
#include "parse/token_kinds.h"

#include <algorithm>

namespace melix::parse {

bool TokenReader::isWord(std::string_view word, size_t ahead) const {
  return is(TokenKind::Identifier, ahead) && textOf(peek(ahead)) == word;
}

std::string_view TokenReader::textOf(const Token& token) const {
  return sources_.text(Span{stream_.file, token.begin, token.end});
}

const Token& TokenReader::take() {
  const Token& token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenReader::accept(TokenKind kind) {
  if (!is(kind)) return false;
  take();
  return true;
}

bool TokenReader::expect(TokenKind kind, std::string_view what) {
  if (accept(kind)) return true;
  fail(what.empty() ? lex::tokenText(kind) : what);
  return false;
}

void TokenReader::fail(std::string_view expected) { failAt(at_, expected); }

/// Reports what was expected at a token: the one at hand, or one before it that shows what is wrong.
void TokenReader::failAt(size_t at, std::string_view expected) {
  if (recovering_) return;
  recovering_ = true;
  if (gaveUp_ || (is(TokenKind::End) && stream_.unclosed) || sink_.errorCount() >= errorsBefore_ + maxErrors)
    return;
  ranOut_ |= is(TokenKind::End) && sink_.errorCount() == errorsBefore_;
  const Token& token = tokens_[at];
  if (token.kind == TokenKind::Bad || inUnclosedString()) return; // the lexer has reported it
  std::string found(lex::tokenText(token.kind));
  if (token.kind == TokenKind::Identifier || token.kind == TokenKind::Int || token.kind == TokenKind::Float)
    found = "`" + std::string(textOf(token)) + "`";
  const bool isOfExample = token.kind == TokenKind::End && token.begin < sources_.text(stream_.file).size();
  if (isOfExample) found = "the end of the example"; // and there its backquotes
  Span place = tokenSpan(token);
  if (isOfExample)
    place.end = place.begin + 3;
  else if (token.kind == TokenKind::End && at > 0) // just behind the last token
    place.begin = place.end = tokens_[at - 1].end;
  const OtherSpelling spelling(tokens_, matching_, sources_.text(stream_.file), at_, expected);
  sink_.report(DiagId::Expected, place, expected, found, at == at_ ? spelling.hint() : "");
}

bool TokenReader::inUnclosedString(uint32_t at) const {
  return std::any_of(stream_.unclosedStrings.begin(), stream_.unclosedStrings.end(),
                     [&](auto string) { return string.first <= at && at < string.second; });
}

/// Whether the next token is inside of a string that is not closed, or follows it.
bool TokenReader::inUnclosedString() const {
  return std::any_of(stream_.unclosedStrings.begin(), stream_.unclosedStrings.end(), [&](auto string) {
    auto [begin, end] = string;
    bool follows = at_ > 0 && tokens_[at_ - 1].begin >= begin && tokens_[at_ - 1].end <= end;
    return follows || (peek().begin >= begin && peek().begin < end);
  });
}

/// Expects the closing bracket of the opening one at token `open`; what goes wrong inside of brackets that
/// are closed stays inside.
bool TokenReader::expectClose(TokenKind kind, uint32_t open, std::string_view what) {
  if (accept(kind)) return true;
  const bool closesBelow = recovering_ || !statementsUpTo(matching_[open]);
  failToClose(kind, open, what);
  const uint32_t close = matching_[open];
  if (gaveUp_ || close < at_ || tokens_[close].kind != kind || !closesBelow) return false;
  recovering_ = false;
  at_ = close;
  take();
  return true;
}

/// Whether a line from here up to a token plainly begins a statement.
bool TokenReader::statementsUpTo(size_t end) const {
  for (size_t k = at_; k < end; ++k)
    if (tokens_[k].newlineBefore && lex::isKeyword(tokens_[k].kind)) return true;
  return false;
}

/// Where the bracket at token `open` is not closed at all, both are shown.
void TokenReader::failToClose(TokenKind kind, uint32_t open, std::string_view what) {
  size_t before = sink_.all().size();
  const bool atEnd = is(TokenKind::End);
  std::optional<LeftBlock> left = atEnd && kind == TokenKind::RBrace ? leftBlock() : std::nullopt;
  if (left) open = left->brace;
  const bool leaves = left && tokens_[left->next].kind == kind; // a brace that closes what is further out
  const std::string_view wanted = leaves ? "one more `}`" : what.empty() ? lex::tokenText(kind) : what;
  failAt(left ? left->next : at_, wanted);
  const bool leftBefore =
      peek().newlineBefore && indentAt(tokens_[open].begin).starts_with(indentAt(peek().begin));
  if ((atEnd || leftBefore) && sink_.all().size() > before)
    sink_.annotateLast(tokenSpan(tokens_[open]),
                       "this " + std::string(lex::tokenText(tokens_[open].kind)) + " is not closed");
}

/// Reports that the text is nested too deep, or a chain in it too long, and reads no more of it.
void TokenReader::giveUp(DiagId id, unsigned limit) {
  if (!recovering_ && !gaveUp_) sink_.report(id, tokenSpan(peek()), std::to_string(limit));
  recovering_ = gaveUp_ = true;
  at_ = tokens_.size() - 1;
}

/// Skips to the next token that starts a line at this bracket depth, or a separator, or the end of the block.
void TokenReader::skipTo(bool commaEnds) {
  recovering_ = false;
  unsigned depth = 0;
  for (bool first = true; !is(TokenKind::End); first = false) {
    TokenKind kind = peek().kind;
    if (depth == 0 && (kind == TokenKind::RBrace || kind == TokenKind::Semicolon ||
                       (commaEnds && kind == TokenKind::Comma) || (!first && peek().newlineBefore)))
      return;
    depth += isOpening(kind);
    depth -= depth > 0 && isClosing(kind);
    take();
  }
}

/// Rule 1 (3): whether the infix token at hand continues the line above it.
bool TokenReader::continuesLine() const {
  if (sameLine()) return true;
  switch (peek().kind) {
  case TokenKind::Minus:
  case TokenKind::At:
  case TokenKind::Amp: return peek().spaceAfter;
  default: return true;
  }
}

Span TokenReader::spanFrom(uint32_t begin) const {
  uint32_t end = at_ > 0 ? tokens_[at_ - 1].end : begin;
  return {stream_.file, begin, std::max(begin, end)};
}

bool TokenReader::takeName(NameId& name, Span& span, bool anyWord) {
  bool word = is(TokenKind::Identifier) || (anyWord && lex::isKeyword(peek().kind));
  if (!word) {
    fail("a name");
    return false;
  }
  const Token& token = take();
  name = nameOf(token);
  span = tokenSpan(token);
  return true;
}

void TokenReader::separators() {
  while (is(TokenKind::Semicolon) || is(TokenKind::Comma)) take();
}

NodeId TokenReader::errorNode() { return ast_.add(NodeKind::Error, tokenSpan(peek())); }

void TokenReader::matchParens() {
  matching_.assign(tokens_.size(), 0);
  std::vector<uint32_t> open;
  for (uint32_t k = 0; k < tokens_.size(); ++k) {
    if (isOpening(tokens_[k].kind)) open.push_back(k);
    if (isClosing(tokens_[k].kind) && !open.empty()) {
      matching_[open.back()] = k;
      open.pop_back();
    }
  }
}

bool TokenReader::parenBefore(TokenKind after) const {
  uint32_t close = matching_[at_];
  if (close == 0 || close + 1 >= tokens_.size() || tokens_[close + 1].kind != after) return false;
  return ignoreNewlines_ || !tokens_[close + 1].newlineBefore;
}

bool TokenReader::enter() {
  if (depth_ < maxDepth) {
    ++depth_;
    return true;
  }
  giveUp(DiagId::NestedTooDeep, maxDepth);
  return false;
}

/// Whether an element of a struct, enum, concept or match ends here: at a newline, `,`, `;` or the closing
/// brace.
bool TokenReader::endsElement() {
  if (recovering_ || closesBlock() || is(TokenKind::Comma) || is(TokenKind::Semicolon) ||
      peek().newlineBefore)
    return true;
  fail("`,` or a new line");
  return false;
}

bool TokenReader::startsItem(size_t ahead) const {
  switch (peek(ahead).kind) {
  case TokenKind::KwFn:
  case TokenKind::KwStruct:
  case TokenKind::KwEnum:
  case TokenKind::KwConcept:
  case TokenKind::KwMacro:
  case TokenKind::KwUse:
  case TokenKind::KwPub:
  case TokenKind::KwConst:
  case TokenKind::KwType:
  case TokenKind::KwExtern:
  case TokenKind::KwExport: return true;
  case TokenKind::Identifier:
    return (isWord("pure", ahead) && is(TokenKind::KwFn, ahead + 1)) ||
           ((isWord("test", ahead) || isWord("bench", ahead)) &&
            (is(TokenKind::StringStart, ahead + 1) || is(TokenKind::Dollar, ahead + 1)) &&
            sameLine(ahead + 1)) ||
           (isWord("check", ahead) && is(TokenKind::Identifier, ahead + 1) && sameLine(ahead + 1) &&
            is(TokenKind::Colon, ahead + 2));
  default: return false;
  }
}

/// `++i`, `i++` and `i--` of other languages: at one of two signs that touch. `--i` is `i`, and `i--j` a
/// difference.
bool TokenReader::changesByOne() const {
  const TokenKind sign = peek().kind;
  const bool isSecond = at_ > 0 && tokens_[at_ - 1].kind == sign && tokens_[at_ - 1].end == peek().begin;
  if (sign == TokenKind::Plus) return isSecond || (is(sign, 1) && peek(1).begin == peek().end);
  const bool endsLine = peek(1).newlineBefore || is(TokenKind::Semicolon, 1) || is(TokenKind::RBrace, 1) ||
                        is(TokenKind::End, 1);
  return sign == TokenKind::Minus && isSecond && endsLine;
}

/// Whether an item follows, perhaps after macros and attributes of its own.
bool TokenReader::macrosThenItem() const {
  size_t k = 0;
  auto isUse = [&] {
    return is(TokenKind::At, k) && !peek(k).spaceAfter && is(TokenKind::Identifier, k + 1);
  };
  for (int macros = 0; macros < 64 && isUse(); ++macros) {
    k += 2;
    while (is(TokenKind::Dot, k) && is(TokenKind::Identifier, k + 1)) k += 2;
    if (is(TokenKind::LParen, k) && matching_[at_ + k] != 0) k = matching_[at_ + k] - at_ + 1;
  }
  return startsItem(k);
}

/// What follows a struct without its brace is no code: goes on at the next item that begins a line.
void TokenReader::skipToItem() {
  recovering_ = false;
  while (!is(TokenKind::End) && !(peek().newlineBefore && startsItem())) take();
}

/// An item or statement among fields, cases or arms, which the brace at `open` holds: the one that closes it
/// was forgotten.
bool TokenReader::missesBrace(uint32_t open) {
  bool statement = is(TokenKind::KwLet) || is(TokenKind::KwVar) || is(TokenKind::KwFor) ||
                   is(TokenKind::KwWhile) || is(TokenKind::KwAssert);
  if (!peek().newlineBefore || !(statement || startsItem())) return false;
  const size_t before = sink_.all().size();
  fail("`}`");
  if (sink_.all().size() > before) sink_.annotateLast(tokenSpan(tokens_[open]), "this `{` is not closed");
  recovering_ = false;
  return true;
}

} // namespace melix::parse
