// The zero with the lengths, cases and keys of a value: what is linear in a tangent takes its branches there
// as it does at any tangent of that value.
#include "check/body/dict_tangents.h"

#include "support/function_ref.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::check {

namespace {

/// Whether the zero of Core does not say how many or which parts there are.
bool hidesParts(Body& body, TypeId type) {
  const types::Type t = body.types[type];
  switch (t.kind) {
  case TypeKind::List:
  case TypeKind::Enum:
  case TypeKind::Pack: return true;
  case TypeKind::Struct: {
    if (body.types.isDict(type) || body.b.isBoxed(type)) return true;
    const size_t count = body.types.recordInfo(t.record).cases[0].fields.size();
    for (uint32_t k = 0; k < count; ++k)
      if (hidesParts(body, body.types.fieldType(type, 0, k))) return true;
    return false;
  }
  case TypeKind::Tuple:
  case TypeKind::Known:
  case TypeKind::Array: return std::ranges::any_of(t.parts, [&](TypeId p) { return hidesParts(body, p); });
  default: return false;
  }
}

NodeId parts(Body& body, NodeId x, Span span) {
  NodeBuilder& b = body.b;
  std::vector<NodeId> nodes, made;
  NodeId whole = b.local(b.bind("x", x, nodes), span);
  const TypeId type = b.typeOf(x);
  const bool isStruct = body.types.kind(type) == TypeKind::Struct;
  const size_t count = isStruct ? body.types.recordInfo(body.types[type].record).cases[0].fields.size()
                                : body.types[type].parts.size();
  for (uint32_t k = 0; k < count; ++k) {
    const bool isKnown = body.types.kind(type) == TypeKind::Known;
    made.push_back(zeroLike(body, isKnown ? body.part(whole, k, span) : b.field(whole, k, span), span));
  }
  nodes.push_back(b.rebuilt(types::tangentType(body.types, type), std::move(made), span));
  return b.block(std::move(nodes), span);
}

NodeId cells(Body& body, NodeId x, Span span) {
  std::vector<NodeId> nodes;
  NodeId whole = body.b.local(body.b.bind("x", x, nodes), span);
  nodes.push_back(body.b.collect(body.b.dimsOf(body.b.typeOf(x)), span, [&](const std::vector<LocalId>& i) {
    return zeroLike(body, body.b.at(whole, i, span), span);
  }));
  return body.b.block(std::move(nodes), span);
}

/// `match x { Case(v…) => Case(zeros…) … }`
NodeId cases(Body& body, NodeId x, Span span) {
  const TypeId type = body.b.typeOf(x), made = types::tangentType(body.types, type);
  const size_t count = body.types.recordInfo(body.types[type].record).cases.size();
  Arms arms;
  for (uint32_t k = 0; k < count; ++k) {
    std::vector<NodeId> fields;
    const PatternId pattern = body.casePattern(type, k, fields, span);
    for (NodeId& field : fields) field = zeroLike(body, field, span);
    const Index there{types::tangentCase(body.types, type, k)};
    arms.arms.push_back(
        {pattern, NodeId::none(), body.b.make(NodeKind::Variant, made, span, std::move(fields), there)});
  }
  return body.b.make(NodeKind::Match, made, span, {x}, std::move(arms));
}

/// A List of the zeros of each of these, made by `zero`.
NodeId elements(Body& body, NodeId list, TypeId made, Span span, FunctionRef<NodeId(NodeId)> zero) {
  NodeBuilder& b = body.b;
  std::vector<NodeId> nodes;
  NodeId all = b.local(b.bind("all", list, nodes), span);
  NodeId count = b.make(NodeKind::Length, body.types.int64(), span, {all});
  nodes.push_back(
      b.listOfEach(made, count, [&](const Step& k) { return zero(b.elementOf(all, k, span)); }, span));
  return b.block(std::move(nodes), span);
}

NodeId entries(Body& body, NodeId dict, Span span) {
  NodeBuilder& b = body.b;
  const TypeId made = types::tangentType(body.types, b.typeOf(dict));
  auto zero = [&](NodeId entry) {
    std::vector<NodeId> nodes;
    NodeId pair = b.local(b.bind("entry", entry, nodes), span);
    nodes.push_back(b.tuple({b.field(pair, 0, span), zeroLike(body, b.field(pair, 1, span), span)}, span));
    return b.block(std::move(nodes), span);
  };
  NodeId items = body.callPrelude("dict_items", {dict}, span);
  const TypeId entry = body.types.tuple(body.types.typeArgs(made));
  return body.callPrelude("dict_of", {elements(body, items, entry, span, zero)}, span);
}

/// Of a value that hides its sizes.
NodeId inside(Body& body, NodeId x, Span span) {
  NodeId zero = zeroLike(body, body.unpacked(x, span), span);
  return body.coerce(zero, types::tangentType(body.types, body.b.typeOf(x)), span);
}

} // namespace

NodeId zeroLike(Body& body, NodeId x, Span span) {
  const TypeId type = body.b.typeOf(x), made = types::tangentType(body.types, type);
  if (body.types.isUnit(made)) return body.b.unit(span);
  if (!hidesParts(body, type)) return body.b.op(OpKind::Zero, made, {}, span);
  switch (body.types.kind(type)) {
  case TypeKind::Tuple:
  case TypeKind::Known: return parts(body, x, span);
  case TypeKind::Array: return cells(body, x, span);
  case TypeKind::Pack: return inside(body, x, span);
  case TypeKind::Struct:
    if (!body.types.isDict(type) && !body.b.isBoxed(type)) return parts(body, x, span);
    [[fallthrough]];
  default: {
    Known known;
    known.kind = KnownKind::ZeroLike;
    known.name = "zero";
    return body.callOwn(std::move(known), span, {x}, span);
  }
  }
}

NodeId zeroLikeBody(Body& body, NodeId x, Span span) {
  const TypeId type = body.b.typeOf(x);
  if (body.types.isDict(type)) return entries(body, x, span);
  switch (body.types.kind(type)) {
  case TypeKind::Struct: return parts(body, x, span);
  case TypeKind::List: {
    const TypeId element = types::tangentType(body.types, body.types[type].parts[0]);
    return elements(body, x, element, span, [&](NodeId v) { return zeroLike(body, v, span); });
  }
  default: return cases(body, x, span);
  }
}

} // namespace melix::check
