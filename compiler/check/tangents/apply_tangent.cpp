// `x + t` of enums, Lists and values that hide their sizes, with their tangents (rule 40): by an instance of
// its own, since such types may hold themselves.
#include "check/body/body.h"
#include "types/tangent.h"

namespace melix::check {

NodeId Body::callMoved(NodeId x, NodeId t, Span span) {
  Known known;
  known.kind = KnownKind::Moved;
  known.name = "+";
  return callOwn(std::move(known), span, {x, t}, span);
}

/// The body of the instance that adds the tangent `t` to `x`.
NodeId Body::movedBody(NodeId x, NodeId t, Span span) {
  switch (b.kindOf(x)) {
  case TypeKind::List: return movedElements(x, t, span);
  case TypeKind::Pack: return movedInside(x, t, span);
  case TypeKind::Struct: return b.addParts(BinaryKind::Add, x, t, b.typeOf(x), span);
  default: return movedCases(x, t, span);
  }
}

/// `match t { zero => x, Case(s…) => match x { Case(v…) => Case(v + s…), _ => panic(…) } … }`
NodeId Body::movedCases(NodeId x, NodeId t, Span span) {
  const TypeId type = b.typeOf(x), tangent = b.typeOf(t);
  const size_t count = types.recordInfo(types[type].record).cases.size();
  Arms outer;
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t there = types::tangentCase(types, type, k);
    std::vector<NodeId> v, s, fields;
    PatternId value = casePattern(type, k, v, span), slope = casePattern(tangent, there, s, span);
    for (size_t f = 0; f < v.size(); ++f) fields.push_back(b.moved(v[f], s[f], span));
    Arms inner;
    NodeId made = b.make(NodeKind::Variant, type, span, std::move(fields), Index{k});
    inner.arms.push_back({value, NodeId::none(), made});
    if (count > 1)
      inner.arms.push_back({anyPattern(type, span), NodeId::none(),
                            refuseTangents("a tangent of another case is added", span)});
    NodeId match = b.make(NodeKind::Match, type, span, {x}, std::move(inner));
    outer.arms.push_back({slope, NodeId::none(), match});
  }
  outer.arms.push_back({anyPattern(tangent, span), NodeId::none(), x});
  return b.make(NodeKind::Match, type, span, {t}, std::move(outer));
}

/// `for k in 0..length { list[k] = each(list[k], k) }`
NodeId Body::eachPlace(LocalId list, NodeId length, Span span,
                       FunctionRef<NodeId(NodeId, const Step&)> each) {
  const TypeId unit = types.unit(), element = types[instance.locals[list].type].parts[0];
  check::For loop;
  loop.loop = static_cast<LoopId>(instance.nodes.size());
  loop.index = b.newLocal("k", types.int64(), span);
  Step step{StepKind::Element, 0, b.local(loop.index, span), {}, {}, 1, span};
  NodeId old = b.make(NodeKind::Get, element, span, {b.local(list, span)}, Steps{{step}});
  NodeId set = b.make(NodeKind::Assign, unit, span, {each(old, step)}, Place{list, {step}, element});
  return b.make(NodeKind::For, unit, span, {b.integer(0, span), length, set}, loop);
}

/// `var out = x; if len(t) != 0 { if len(t) != len(x) { panic(…) }; for k in 0..len(x) { out[k] = x[k] + t[k]
/// } }; out`
NodeId Body::movedElements(NodeId x, NodeId t, Span span) {
  const TypeId type = b.typeOf(x), unit = types.unit(), slope = types[b.typeOf(t)].parts[0];
  auto length = [&](NodeId list) { return b.make(NodeKind::Length, types.int64(), span, {list}); };
  auto differ = [&](NodeId left, NodeId right) {
    return b.op(OpKind::Cmp, types.boolean(), {left, right}, span, static_cast<uint32_t>(ops::CmpKind::Ne));
  };
  LocalId out = b.newLocal("out", type, span, true);
  NodeId each = eachPlace(out, length(x), span, [&](NodeId old, const Step& step) {
    return b.moved(old, b.make(NodeKind::Get, slope, span, {t}, Steps{{step}}), span);
  });
  NodeId refuse = b.make(NodeKind::If, unit, span,
                         {differ(length(t), length(x)), refuseTangents(types::listLengthsDiffer, span)});
  NodeId some = b.make(NodeKind::If, unit, span,
                       {differ(length(t), b.integer(0, span)), b.block({refuse, each, b.unit(span)}, span)});
  return b.block({b.let(out, x), some, b.local(out, span)}, span);
}

/// Of a value that hides its sizes: those of its tangent are the same, or it is a zero without any.
NodeId Body::movedInside(NodeId x, NodeId t, Span span) {
  std::vector<NodeId> nodes;
  const TypeId type = b.typeOf(x);
  NodeId value = b.local(b.bind("value", unpacked(x, span), nodes), span);
  NodeId slope = b.local(b.bind("slope", unpacked(t, span), nodes), span);
  TypeId tangent = types::tangentType(types, b.typeOf(value));
  slope = coerce(slope, tangent, span);
  nodes.push_back(coerce(b.moved(value, slope, span), type, span));
  return b.block(std::move(nodes), span);
}

NodeId Body::refuseTangents(std::string_view why, Span span) {
  return b.make(NodeKind::Panic, types.never(), span, {b.string(std::string(why), span)});
}

} // namespace melix::check
