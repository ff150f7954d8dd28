#include "format/writer.h"

#include "format/format.h"

#include <algorithm>

namespace melix::format {

using namespace syntax;

namespace {

std::string withoutCarriageReturns(std::string_view text) {
  std::string out;
  for (size_t k = 0; k < text.size(); ++k)
    if (text[k] != '\r' || k + 1 >= text.size() || text[k + 1] != '\n') out += text[k];
  return out;
}

bool isStatementOfLines(NodeKind kind) {
  switch (kind) {
  case NodeKind::If:
  case NodeKind::Match:
  case NodeKind::For:
  case NodeKind::While:
  case NodeKind::Loop:
  case NodeKind::Scope:
  case NodeKind::On:
  case NodeKind::Fn:
  case NodeKind::Struct:
  case NodeKind::Enum:
  case NodeKind::Concept:
  case NodeKind::Macro:
  case NodeKind::Test:
  case NodeKind::Bench: return true;
  default: return false;
  }
}

} // namespace

Writer::Writer(const Ast& ast, const lex::TokenStream& stream, const SourceStore& sources)
    : ast_(ast), stream_(stream), sources_(sources) {
  findForced();
}

/// A node takes several lines if it is a block of several statements, or of one that has a block itself, or a
/// match, or if a comment or such a node stands in it. Children have smaller ids than their parents.
void Writer::findForced() {
  forced_.assign(ast_.size(), false);
  for (uint32_t k = 0; k < ast_.size(); ++k) {
    const Node& n = ast_[NodeId(k)];
    bool force = n.kind == NodeKind::Match && !n.as<Match>().arms.empty();
    if (n.kind == NodeKind::Block) {
      const NodeList& items = n.as<Many>().items;
      force = items.size() > 1 || (items.size() == 1 && isStatementOfLines(ast_.kind(items[0])));
      if (items.size() == 1 && ast_.kind(items[0]) == NodeKind::MacroUse)
        force |= ast_[items[0]].as<MacroUse>().target.valid();
    }
    auto inside =
        std::lower_bound(stream_.comments.begin(), stream_.comments.end(), n.span.begin + 1,
                         [](const lex::CommentText& c, uint32_t offset) { return c.begin < offset; });
    force |= inside != stream_.comments.end() && inside->end < n.span.end;
    forEachChild(ast_, NodeId(k), [&](NodeId child) { force |= child.index < k && forced_[child.index]; });
    forced_[k] = force;
    // `quote { for … { } }` is short for what it is.
    if (n.kind == NodeKind::Quote && ast_.kind(n.as<Quote>().block) == NodeKind::Block) {
      const NodeList& items = ast_[n.as<Quote>().block].as<Many>().items;
      bool comment = inside != stream_.comments.end() && inside->end < n.span.end;
      if (items.size() == 1 && !comment && !forced_[items[0].index])
        forced_[k] = forced_[n.as<Quote>().block.index] = false;
    }
  }
}

std::string_view Writer::textOf(const Token& t) const {
  return sources_.text(Span{stream_.file, t.begin, t.end});
}

void Writer::verbatim(uint32_t begin, uint32_t end) {
  std::string_view text = sources_.text(Span{stream_.file, begin, end});
  if (text.find('\r') == std::string_view::npos)
    doc_.text(text);
  else
    doc_.ownText(withoutCarriageReturns(text));
}

void Writer::token() {
  comments();
  const Token& t = peek();
  verbatim(t.begin, t.end);
  lastEnd_ = t.end;
  if (at_ + 1 < stream_.tokens.size())
    ++at_;
  else
    ok_ = false;
}

void Writer::token(TokenKind kind) {
  if (!is(kind)) ok_ = false;
  token();
}

void Writer::tokensBefore(uint32_t offset) {
  while (ok_ && peek().begin < offset) word();
}

void Writer::line(std::string_view flat) {
  if (flat_ == 0) return doc_.line(flat);
  if (!flat.empty()) doc_.text(flat);
}

bool Writer::blankBetween(uint32_t begin, uint32_t end) const {
  auto blank = std::lower_bound(stream_.blankLines.begin(), stream_.blankLines.end(), begin);
  return blank != stream_.blankLines.end() && *blank < end;
}

/// Inside of a line: one that ends its line ends ours, a short `/* */` stays where it is.
void Writer::comments() {
  while (commentsAhead()) {
    const lex::CommentText& c = stream_.comments[nextComment_++];
    std::string_view source = sources_.text(Span{stream_.file, c.begin, c.end});
    source = source.substr(0, source.find_last_not_of(" \t\r") + 1);
    lastEnd_ = c.end;
    bool oneLine = source.starts_with("/*") && source.find('\n') == std::string_view::npos;
    std::string_view text = doc_.keep(withoutCarriageReturns(source));
    if (oneLine) {
      doc_.space();
      doc_.text(text);
      if (!is(TokenKind::Comma) && !is(TokenKind::RParen) && !is(TokenKind::RBracket)) doc_.space();
    } else if (!c.ownLine) {
      doc_.trailing(text);
    } else {
      doc_.hardLine();
      doc_.text(text);
      doc_.hardLine();
    }
  }
}

/// Between statements and the like: on lines of their own, or at the end of the line before; blank lines are
/// kept.
void Writer::commentsBetween(bool first) {
  while (commentsAhead()) {
    const lex::CommentText& c = stream_.comments[nextComment_++];
    std::string_view source = sources_.text(Span{stream_.file, c.begin, c.end});
    source = source.substr(0, source.find_last_not_of(" \t\r") + 1);
    std::string_view text = doc_.keep(withoutCarriageReturns(source));
    bool blank = !first && blankBetween(lastEnd_, c.begin);
    lastEnd_ = c.end;
    first = false;
    if (!c.ownLine) {
      doc_.trailing(text);
      continue;
    }
    blank ? doc_.blankLine() : doc_.hardLine();
    doc_.text(text);
    doc_.hardLine();
  }
  bool closing = is(TokenKind::RBrace) || is(TokenKind::End);
  if (!first && !closing && blankBetween(lastEnd_, peek().begin)) doc_.blankLine();
}

/// Drops `;` and `,`, keeping the comments before them.
bool Writer::skipSeparators(bool first) {
  bool any = false;
  while (is(TokenKind::Semicolon) || is(TokenKind::Comma)) {
    commentsBetween(first && !any);
    lastEnd_ = peek().end;
    ++at_;
    any = true;
  }
  return any;
}

/// Drops the comma before a closing bracket.
bool Writer::dropComma() {
  comments();
  lastEnd_ = peek().end;
  ++at_;
  return true;
}

/// What brings its own lines and so stands behind `=` on the same line.
bool Writer::blocky(NodeId id) const {
  switch (ast_.kind(id)) {
  case NodeKind::Block:
  case NodeKind::If:
  case NodeKind::Match:
  case NodeKind::Loop:
  case NodeKind::Quote:
  case NodeKind::On:
  case NodeKind::Scope: return true;
  default: return false;
  }
}

bool Writer::writeModule() {
  sequence(ast_[ast_.root].as<Many>().items);
  comments();
  return ok_ && is(TokenKind::End) && nextComment_ == stream_.comments.size();
}

std::optional<std::string> formatFile(const Ast& ast, const SourceStore& sources) {
  DiagnosticSink sink;
  lex::TokenStream stream = lex::lex(ast.file, sources, sink);
  if (sink.errorCount() > 0 || !ast.root) return std::nullopt;
  for (uint32_t k = 0; k < ast.size(); ++k)
    if (ast.kind(NodeId(k)) == NodeKind::Error) return std::nullopt;
  Writer writer(ast, stream, sources);
  if (!writer.writeModule()) return std::nullopt;
  constexpr uint32_t columns = 100;
  std::string_view source = sources.text(ast.file);
  std::string out = writer.doc().print(columns);
  if (source.starts_with("\xef\xbb\xbf")) source.remove_prefix(3);
  if (source.starts_with("#!")) {
    std::string_view firstLine = source.substr(0, source.find('\n'));
    firstLine = firstLine.substr(0, firstLine.find_last_not_of(" \t\r") + 1);
    out = std::string(firstLine) + "\n" + out;
  }
  return out;
}

} // namespace melix::format
