// Pieces of one program set into another, where a piece of the same sort stood.
#include "fuzz/mutate.h"

#include "parse/parse.h"

namespace melix::fuzz {

namespace {

using syntax::NodeId;
using syntax::NodeKind;

enum class Sort { Expression, Statement, Pattern, Item, Whole };

/// Types are written with the nodes of expressions.
Sort sortOf(NodeKind kind) {
  switch (kind) {
  case NodeKind::Module:
  case NodeKind::Error: return Sort::Whole;
  case NodeKind::For:
  case NodeKind::While:
  case NodeKind::Loop:
  case NodeKind::Break:
  case NodeKind::Continue:
  case NodeKind::Return:
  case NodeKind::Let:
  case NodeKind::Assign:
  case NodeKind::OpAssign:
  case NodeKind::Assert: return Sort::Statement;
  case NodeKind::CasePattern:
  case NodeKind::OrPattern:
  case NodeKind::RefPattern: return Sort::Pattern;
  case NodeKind::Fn:
  case NodeKind::Struct:
  case NodeKind::Enum:
  case NodeKind::Concept:
  case NodeKind::Macro:
  case NodeKind::Use:
  case NodeKind::Const:
  case NodeKind::TypeAlias:
  case NodeKind::Test:
  case NodeKind::Bench:
  case NodeKind::CheckItem: return Sort::Item;
  default: return Sort::Expression;
  }
}

struct Piece {
  Sort sort;
  std::string_view text;
};

std::vector<Piece> piecesOf(const std::string& text) {
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  parse::ParseResult result = parse::parseFile(sources.add("text", text), sources, names, sink);
  std::vector<Piece> out;
  for (uint32_t k = 0; k < result.ast.size(); ++k) {
    Span span = result.ast.span(NodeId(k));
    Sort sort = sortOf(result.ast.kind(NodeId(k)));
    if (sort != Sort::Whole && span.begin < span.end)
      out.push_back({sort, std::string_view(text).substr(span.begin, span.end - span.begin)});
  }
  return out;
}

} // namespace

std::string graftPieces(std::string text, const std::string& other, Random& random) {
  std::vector<Piece> there = piecesOf(other);
  for (unsigned count = 1 + random() % 2; count > 0; --count) {
    std::vector<Piece> here = piecesOf(text);
    if (here.empty() || there.empty()) return text;
    Piece old = here[random() % here.size()], fresh = there[random() % there.size()];
    for (unsigned tries = 50; tries > 0 && fresh.sort != old.sort; --tries)
      fresh = there[random() % there.size()];
    auto at = static_cast<size_t>(old.text.data() - text.data());
    bool beside = old.sort == Sort::Item || (old.sort == Sort::Statement && random() % 2 == 0);
    text.replace(at, beside ? 0 : old.text.size(), std::string(fresh.text) + (beside ? "\n" : ""));
  }
  return text;
}

} // namespace melix::fuzz
