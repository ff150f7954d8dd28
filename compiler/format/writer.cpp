#include "format/writer.h"

#include "format/format.h"

#include <algorithm>

namespace melix::format {

using namespace syntax;

namespace {

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

/// A node takes several lines if it is a block of several statements, or of one that has a block itself, or a
/// match, or an item below a use of a macro, or if a comment or such a node stands in it. Children have
/// smaller ids than their parents.
std::vector<bool> findForced(const Ast& ast, const lex::TokenStream& stream) {
  std::vector<bool> forced(ast.size());
  for (uint32_t k = 0; k < ast.size(); ++k) {
    const Node& n = ast[NodeId(k)];
    bool force = n.kind == NodeKind::Match && !n.as<Match>().arms.empty();
    force |= n.kind == NodeKind::MacroUse && standsAsItem(ast, NodeId(k));
    if (n.kind == NodeKind::Block) {
      const NodeList& items = n.as<Many>().items;
      force = items.size() > 1 || (items.size() == 1 && isStatementOfLines(ast.kind(items[0])));
      if (items.size() == 1 && ast.kind(items[0]) == NodeKind::MacroUse)
        force |= ast[items[0]].as<MacroUse>().target.valid();
    }
    auto inside =
        std::lower_bound(stream.comments.begin(), stream.comments.end(), n.span.begin + 1,
                         [](const lex::CommentText& c, uint32_t offset) { return c.begin < offset; });
    force |= inside != stream.comments.end() && inside->end < n.span.end;
    forEachChild(ast, NodeId(k), [&](NodeId child) { force |= child.index < k && forced[child.index]; });
    forced[k] = force;
    // `quote { for … { } }` is short for what it is.
    if (n.kind == NodeKind::Quote && ast.kind(n.as<Quote>().block) == NodeKind::Block) {
      const NodeList& items = ast[n.as<Quote>().block].as<Many>().items;
      bool comment = inside != stream.comments.end() && inside->end < n.span.end;
      if (items.size() == 1 && !comment && !forced[items[0].index])
        forced[k] = forced[n.as<Quote>().block.index] = false;
    }
  }
  return forced;
}

} // namespace

bool standsAsItem(const Ast& ast, NodeId id) {
  while (ast.kind(id) == NodeKind::MacroUse && ast[id].as<MacroUse>().target)
    id = ast[id].as<MacroUse>().target;
  return isItem(ast.kind(id));
}

Writer::Writer(const Ast& ast, const lex::TokenStream& stream, const SourceStore& sources)
    : TokenWriter(stream, sources), ast_(ast), forced_(findForced(ast, stream)) {}

bool isBlocky(NodeKind kind) {
  switch (kind) {
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
  return ok_ && atEnd();
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
