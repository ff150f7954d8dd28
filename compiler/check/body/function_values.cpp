#include "check/body/function_values.h"

namespace melix::check {

namespace {

/// The parts of a tuple; one that is not written as such is evaluated before them, in `nodes`.
std::vector<NodeId> partsOf(Body& body, NodeId tuple, std::vector<NodeId>& nodes) {
  NodeBuilder& b = body.b;
  if (b.instance.nodes[tuple].kind == NodeKind::Tuple) return b.instance.nodes[tuple].children;
  const Span span = b.spanOf(tuple);
  const LocalId whole = b.bind("parts", tuple, nodes);
  std::vector<NodeId> parts;
  for (uint32_t k = 0; k < body.types[b.typeOf(tuple)].parts.size(); ++k)
    parts.push_back(b.tuplePart(b.local(whole, span), k, span));
  return parts;
}

/// The tuple of these parts, an error if one of them is.
NodeId tupleOf(Body& body, std::vector<NodeId> parts, std::vector<NodeId> nodes, Span span) {
  for (NodeId part : parts)
    if (body.b.kindOf(part) == TypeKind::Error) return part;
  nodes.push_back(body.b.tuple(std::move(parts), span));
  return nodes.size() == 1 ? nodes[0] : body.b.block(std::move(nodes), span);
}

/// Whether one of the two is a template that the other is not.
bool templatesDiffer(Body& body, TypeId x, TypeId y) {
  const types::Type &one = body.types[body.infer.shallow(x)], &other = body.types[body.infer.shallow(y)];
  auto isFunction = [](TypeKind kind) { return kind == TypeKind::Known || kind == TypeKind::Function; };
  if (isFunction(one.kind) && isFunction(other.kind))
    return one.kind != other.kind || (one.kind == TypeKind::Known && one != other);
  if (one.kind != TypeKind::Tuple || other.kind != TypeKind::Tuple || one.parts.size() != other.parts.size())
    return false;
  for (size_t k = 0; k < one.parts.size(); ++k)
    if (templatesDiffer(body, one.parts[k], other.parts[k])) return true;
  return false;
}

/// Two templates at the type that one of them has by itself.
void joinTemplates(Body& body, NodeId& x, NodeId& y) {
  NodeId told = body.monomorphicFunction(x), toldToo = body.monomorphicFunction(y);
  if (!told.valid() && !toldToo.valid()) {
    x = y = withFunctionTypes(body, y);
    return;
  }
  x = told.valid() ? told : body.coerce(x, body.b.typeOf(toldToo), body.b.spanOf(x));
  y = toldToo.valid() ? toldToo : body.coerce(y, body.b.typeOf(told), body.b.spanOf(y));
}

} // namespace

bool holdsTemplate(Body& body, TypeId type) {
  const types::Type& t = body.types[body.infer.shallow(type)];
  if (t.kind != TypeKind::Tuple) return t.kind == TypeKind::Known;
  return std::any_of(t.parts.begin(), t.parts.end(), [&](TypeId part) { return holdsTemplate(body, part); });
}

NodeId withFunctionTypes(Body& body, NodeId value) {
  NodeBuilder& b = body.b;
  if (!holdsTemplate(body, b.typeOf(value))) return value;
  const Span span = b.spanOf(value);
  if (b.kindOf(value) == TypeKind::Known) {
    if (NodeId made = body.monomorphicFunction(value); made.valid()) return made;
    body.sink.report(DiagId::FunctionTypeWanted, span);
    return b.error(span);
  }
  std::vector<NodeId> nodes, parts = partsOf(body, value, nodes);
  for (NodeId& part : parts) part = withFunctionTypes(body, part);
  return tupleOf(body, std::move(parts), std::move(nodes), span);
}

bool joinAsFunctions(Body& body, NodeId& x, NodeId& y) {
  NodeBuilder& b = body.b;
  if (!templatesDiffer(body, b.typeOf(x), b.typeOf(y))) return false;
  const TypeKind mine = b.kindOf(x), theirs = b.kindOf(y);
  if (mine == TypeKind::Tuple) {
    std::vector<NodeId> before, beforeToo;
    std::vector<NodeId> parts = partsOf(body, x, before), partsToo = partsOf(body, y, beforeToo);
    for (size_t k = 0; k < parts.size(); ++k) joinAsFunctions(body, parts[k], partsToo[k]);
    x = tupleOf(body, std::move(parts), std::move(before), b.spanOf(x));
    y = tupleOf(body, std::move(partsToo), std::move(beforeToo), b.spanOf(y));
  } else if (mine == TypeKind::Function) {
    y = body.coerce(y, b.typeOf(x), b.spanOf(y));
  } else if (theirs == TypeKind::Function) {
    x = body.coerce(x, b.typeOf(y), b.spanOf(x));
  } else {
    joinTemplates(body, x, y);
  }
  return true;
}

std::string templateHint(Body& body, TypeId want, TypeId got) {
  const TypeId asked = body.infer.zonk(want), given = body.infer.zonk(got);
  if (!body.types.holds(asked, TypeKind::Known) || !body.types.holds(given, TypeKind::Known)) return {};
  return "each function has a type of its own until one like `(f32) -> f32` is expected: "
         "write it where the first of them is named";
}

} // namespace melix::check
