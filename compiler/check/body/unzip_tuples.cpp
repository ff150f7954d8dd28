#include "check/body/unzip_tuples.h"

namespace melix::check {

NodeId unzipped(Body& body, NodeId rows, Span span) {
  NodeBuilder& b = body.b;
  const TypeId type = b.typeOf(rows), row = body.types.element(type);
  if (body.types.kind(type) == TypeKind::Error) return rows;
  if (b.dimsOf(type).empty() || body.types.kind(row) != TypeKind::Tuple || body.types.isUnit(row)) {
    body.sink.report(DiagId::ArgumentKind, b.spanOf(rows), "unzip", "an array of tuples", b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> nodes, parts;
  const NodeId all = b.local(b.bind("rows", rows, nodes), span);
  const auto count = static_cast<uint32_t>(body.types[row].parts.size());
  for (uint32_t k = 0; k < count; ++k)
    parts.push_back(b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& at) {
      return b.field(b.at(all, at, span), k, span);
    }));
  nodes.push_back(b.tuple(std::move(parts), span));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
