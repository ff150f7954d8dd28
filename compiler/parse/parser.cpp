#include "parse/parser.h"

#include "diagnostics/messages.h"
#include "parse/parse.h"

#include <algorithm>

namespace melix::parse {

/// module = { item | statement }
void Parser::parseModule() {
  syntax::NodeList items;
  while (!is(TokenKind::End)) {
    if (accept(TokenKind::Semicolon)) continue;
    if (is(TokenKind::RBrace) && skipStrayBrace()) continue;
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

/// A brace that closes nothing: where the lines tell, one before what it should close is missing. What
/// follows another error may come of that.
bool Parser::skipStrayBrace() {
  if (hasReported()) return false;
  const std::optional<size_t> line = enteredBlock(at_);
  if (!line) return false;
  const std::optional<size_t> tooMany = braceTooMany(*line);
  failAt(tooMany.value_or(*line), tooMany ? "a new line" : "`{` before this line");
  if (tooMany) sink_.hintLast("one brace too many: the lines below belong to the block that it closes");
  sink_.annotateLast(tokenSpan(peek()), "this `}` closes nothing");
  recovering_ = false;
  while (is(TokenKind::RBrace)) take();
  return true;
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

ParseResult parseFile(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink) {
  ParseResult result;
  const Messages told(sink);
  lex::TokenStream stream = lex::lex(file, sources, sink);
  const bool openText = told.all().size() == 1 && told.last()->id == DiagId::UnclosedComment;
  result.ast.file = file;
  result.ast.blankLines = stream.blankLines;
  for (const lex::CommentText& c : stream.comments)
    result.ast.comments.push_back({{file, c.begin, c.end}, c.isDoc, c.ownLine});
  Parser parser(stream, sources, names, sink, result.ast);
  parser.parseModule();
  result.incomplete = parser.ranOut() || openText || stream.endsInText;
  return result;
}

ParseResult parseReplEntry(FileId file, const SourceStore& sources, Interner& names, DiagnosticSink& sink) {
  Messages told(sink);
  ParseResult result = parseFile(file, sources, names, sink);
  if (result.incomplete) told.drop();
  return result;
}

} // namespace melix::parse
