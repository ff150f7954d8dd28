// Tokens, errors, recovery.
#include "parse/parser.h"

#include "parse/parse.h"

#include <cctype>

namespace melix::parse {

bool Parser::isWord(std::string_view word, size_t ahead) const {
  return is(TokenKind::Identifier, ahead) && textOf(peek(ahead)) == word;
}

std::string_view Parser::textOf(const Token& token) const {
  return sources_.text(Span{stream_.file, token.begin, token.end});
}

const Token& Parser::take() {
  const Token& token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!is(kind)) return false;
  take();
  return true;
}

bool Parser::expect(TokenKind kind, std::string_view what) {
  if (accept(kind)) return true;
  fail(what.empty() ? lex::tokenText(kind) : what);
  return false;
}

void Parser::fail(std::string_view expected) {
  if (recovering_) return;
  recovering_ = true;
  if (gaveUp_ || (is(TokenKind::End) && stream_.unclosed) || sink_.errorCount() >= errorsBefore_ + maxErrors)
    return;
  ranOut_ |= is(TokenKind::End) && sink_.errorCount() == errorsBefore_;
  const Token& token = peek();
  if (token.kind == TokenKind::Bad || inUnclosedString()) return; // the lexer has reported it
  std::string found(lex::tokenText(token.kind));
  if (token.kind == TokenKind::Identifier || token.kind == TokenKind::Int || token.kind == TokenKind::Float)
    found = "`" + std::string(textOf(token)) + "`";
  if (token.kind == TokenKind::RBrace && textOf(token) != "}") found = "the end of the example";
  Span place = tokenSpan(token);
  if (is(TokenKind::End) && at_ > 0) // just behind the last token
    place.begin = place.end = tokens_[at_ - 1].end;
  sink_.report(DiagId::Expected, place, expected, found, habitHint());
}

/// What a sign or a word of another language at the failing token, or just before it on its line, is in
/// Melix.
std::string_view Parser::habitHint() const {
  auto hintAt = [&](const Token& token) {
    std::string_view rest = sources_.text(stream_.file).substr(token.begin);
    bool isWord = !rest.empty() && std::isalpha(static_cast<unsigned char>(rest[0]));
    return melix::habitHint(isWord ? HabitKind::Word : HabitKind::Sign, rest);
  };
  if (at_ > 0 && !peek().newlineBefore) {
    const Token& before = tokens_[at_ - 1];
    bool isWord = before.kind == TokenKind::Identifier, isChoice = before.kind == TokenKind::Question;
    if (isWord || isChoice || before.end == peek().begin)
      if (std::string_view hint = hintAt(before); !hint.empty()) return hint;
  }
  return hintAt(peek());
}

bool Parser::inUnclosedString(uint32_t at) const {
  return std::any_of(stream_.unclosedStrings.begin(), stream_.unclosedStrings.end(),
                     [&](auto string) { return string.first <= at && at < string.second; });
}

/// Whether the next token is inside of a string that is not closed, or follows it.
bool Parser::inUnclosedString() const {
  return std::any_of(stream_.unclosedStrings.begin(), stream_.unclosedStrings.end(), [&](auto string) {
    auto [begin, end] = string;
    bool follows = at_ > 0 && tokens_[at_ - 1].begin >= begin && tokens_[at_ - 1].end <= end;
    return follows || (peek().begin >= begin && peek().begin < end);
  });
}

/// Expects the closing bracket of the opening one at token `open`; where that fails at the end, both are
/// shown.
bool Parser::expectClose(TokenKind kind, uint32_t open, std::string_view what) {
  if (accept(kind)) return true;
  // What went wrong inside of brackets that are closed stays inside.
  uint32_t close = matching_[open];
  if (recovering_ && !gaveUp_ && close >= at_ && tokens_[close].kind == kind) {
    recovering_ = false;
    at_ = close;
    take();
    return true;
  }
  size_t before = sink_.all().size();
  fail(what.empty() ? lex::tokenText(kind) : what);
  if (is(TokenKind::End) && sink_.all().size() > before)
    sink_.annotateLast(tokenSpan(tokens_[open]),
                       "this " + std::string(lex::tokenText(tokens_[open].kind)) + " is not closed");
  return false;
}

/// Reports that the text is nested too deep, or a chain in it too long, and reads no more of it.
void Parser::giveUp(DiagId id, unsigned limit) {
  if (!recovering_ && !gaveUp_) sink_.report(id, tokenSpan(peek()), std::to_string(limit));
  recovering_ = gaveUp_ = true;
  at_ = tokens_.size() - 1;
}

/// Skips to the next token that starts a line at this bracket depth, or a separator, or the end of the block.
void Parser::skipTo(bool commaEnds) {
  recovering_ = false;
  unsigned depth = 0;
  for (bool first = true; !is(TokenKind::End); first = false) {
    TokenKind kind = peek().kind;
    if (depth == 0 && (kind == TokenKind::RBrace || kind == TokenKind::Semicolon ||
                       (commaEnds && kind == TokenKind::Comma) || (!first && peek().newlineBefore)))
      return;
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace) ++depth;
    if (kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace)
      depth -= depth > 0;
    take();
  }
}

/// Rule 1 (3): whether the infix token at hand continues the line above it.
bool Parser::continuesLine() const {
  if (sameLine()) return true;
  switch (peek().kind) {
  case TokenKind::Minus:
  case TokenKind::At:
  case TokenKind::Amp: return peek().spaceAfter;
  default: return true;
  }
}

Span Parser::spanFrom(uint32_t begin) const {
  uint32_t end = at_ > 0 ? tokens_[at_ - 1].end : begin;
  return {stream_.file, begin, std::max(begin, end)};
}

bool Parser::takeName(NameId& name, Span& span, bool anyWord) {
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

void Parser::separators() {
  while (is(TokenKind::Semicolon) || is(TokenKind::Comma)) take();
}

NodeId Parser::errorNode() { return ast_.add(NodeKind::Error, tokenSpan(peek())); }

void Parser::matchParens() {
  matching_.assign(tokens_.size(), 0);
  std::vector<uint32_t> open;
  for (uint32_t k = 0; k < tokens_.size(); ++k) {
    TokenKind kind = tokens_[k].kind;
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace)
      open.push_back(k);
    bool closes = kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
    if (closes && !open.empty()) {
      matching_[open.back()] = k;
      open.pop_back();
    }
  }
}

bool Parser::parenBefore(TokenKind after) const {
  uint32_t close = matching_[at_];
  if (close == 0 || close + 1 >= tokens_.size() || tokens_[close + 1].kind != after) return false;
  return ignoreNewlines_ || !tokens_[close + 1].newlineBefore;
}

bool Parser::enter() {
  if (depth_ < maxDepth) {
    ++depth_;
    return true;
  }
  giveUp(DiagId::NestedTooDeep, maxDepth);
  return false;
}

/// module = { item | statement }
void Parser::parseModule() {
  syntax::NodeList items;
  while (!is(TokenKind::End)) {
    if (accept(TokenKind::Semicolon)) continue;
    size_t before = at_;
    parseStatementInto(items);
    if (recovering_) skipTo(false);
    if (at_ == before) { // a stray closing bracket, say
      fail("a statement");
      recovering_ = false;
      for (TokenKind stray = peek().kind; is(stray) && !is(TokenKind::End);) take();
    }
  }
  Span whole{stream_.file, 0, static_cast<uint32_t>(sources_.text(stream_.file).size())};
  ast_.root = ast_.add(NodeKind::Module, whole, syntax::Many{std::move(items)});
  checkHeight();
}

/// A tree of many long chains nested in each other is refused too, so that every walk of a tree may recurse.
void Parser::checkHeight() {
  std::vector<uint32_t> heights(ast_.size());
  for (uint32_t k = 0; k < ast_.size(); ++k) {
    uint32_t below = 0;
    syntax::forEachChild(ast_, NodeId(k),
                         [&](NodeId child) { below = std::max(below, heights[child.index]); });
    heights[k] = below + 1;
    if (heights[k] <= maxHeight) continue;
    if (!gaveUp_) sink_.report(DiagId::NestedTooDeep, ast_.span(NodeId(k)), std::to_string(maxHeight));
    ast_.root = ast_.add(NodeKind::Module, ast_.span(ast_.root), syntax::Many{});
    return;
  }
}

/// Whether an element of a struct, enum, concept or match ends here: at a newline, `,`, `;` or the closing
/// brace.
bool Parser::endsElement() {
  if (recovering_ || closesBlock() || is(TokenKind::Comma) || is(TokenKind::Semicolon) ||
      peek().newlineBefore)
    return true;
  fail("`,` or a new line");
  return false;
}

ParseResult parseFile(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink) {
  ParseResult result;
  size_t before = sink.all().size();
  lex::TokenStream stream = lex::lex(file, sources, sink);
  bool openText = sink.all().size() == before + 1 && sink.all().back().id == DiagId::UnclosedComment;
  result.ast.file = file;
  result.ast.blankLines = stream.blankLines;
  for (const lex::CommentText& c : stream.comments)
    result.ast.comments.push_back({{file, c.begin, c.end}, c.isDoc, c.ownLine});
  Parser parser(stream, sources, names, sink, result.ast);
  parser.parseModule();
  sink.sortSince(before);
  result.incomplete = parser.ranOut() || openText || stream.endsInText;
  return result;
}

ParseResult parseReplEntry(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink) {
  size_t mark = sink.all().size();
  ParseResult result = parseFile(file, sources, names, sink);
  if (result.incomplete) sink.rewind(mark);
  return result;
}

} // namespace melix::parse
