// `dot` of the tangents of enums and Lists (rule 40): by an instance of its own, since such types may hold
// themselves. Its result is the widest float among the leaves.
#include "check/body/body.h"

namespace melix::check {

NodeId Body::callDotted(NodeId x, NodeId y, Span span) {
  Known known;
  known.kind = KnownKind::Dotted;
  known.name = "dot";
  return callOwn(std::move(known), span, {x, y}, span);
}

/// The body of the instance that multiplies the tangents `x` and `y` of one type.
NodeId Body::dottedBody(NodeId x, NodeId y, Span span) {
  const TypeId result = instance.result;
  switch (b.kindOf(x)) {
  case TypeKind::List: return dottedElements(x, y, result, span);
  case TypeKind::Struct: return b.convert(leaves.dotParts(x, y, span), result, span);
  default: return dottedCases(x, y, result, span);
  }
}

/// `match x { Case(v…) => match y { Case(s…) => dot(v, s) + …, zero => 0, _ => panic(…) } …, zero => 0 }`
NodeId Body::dottedCases(NodeId x, NodeId y, TypeId result, Span span) {
  const TypeId type = b.typeOf(x);
  const size_t count = types.recordInfo(types[type].record).cases.size();
  auto nothing = [&] { return b.number("0", result, span); };
  auto otherwise = [&](NodeId value) { return Arm{anyPattern(type, span), NodeId::none(), value}; };
  Arms outer;
  for (uint32_t k = 1; k < count; ++k) { // 0 is `zero`
    std::vector<NodeId> left, right;
    PatternId mine = casePattern(type, k, left, span), theirs = casePattern(type, k, right, span);
    NodeId total = nothing();
    for (size_t f = 0; f < left.size(); ++f) {
      if (types.isUnit(b.typeOf(left[f]))) continue;
      NodeId part = b.convert(leaves.dot(left[f], right[f], span), result, span);
      total = b.op(OpKind::Add, result, {total, part}, span);
    }
    std::vector<NodeId> none;
    Arms inner;
    inner.arms.push_back({theirs, NodeId::none(), total});
    inner.arms.push_back({casePattern(type, 0, none, span), NodeId::none(), nothing()});
    if (count > 2) inner.arms.push_back(otherwise(refuseTangents("`dot` of tangents of two cases", span)));
    outer.arms.push_back(
        {mine, NodeId::none(), b.make(NodeKind::Match, result, span, {y}, std::move(inner))});
  }
  outer.arms.push_back(otherwise(nothing()));
  return b.make(NodeKind::Match, result, span, {x}, std::move(outer));
}

/// `var total = 0; if len(x) != 0 and len(y) != 0 { if len(x) != len(y) { panic(…) }; for k in 0..len(x) {
/// total = total + dot(x[k], y[k]) } }; total`
NodeId Body::dottedElements(NodeId x, NodeId y, TypeId result, Span span) {
  const TypeId unit = types.unit(), element = types[b.typeOf(x)].parts[0];
  auto length = [&](NodeId list) { return b.make(NodeKind::Length, types.int64(), span, {list}); };
  auto differ = [&](NodeId left, NodeId right) {
    return b.op(OpKind::Cmp, types.boolean(), {left, right}, span, static_cast<uint32_t>(ops::CmpKind::Ne));
  };
  LocalId total = b.newLocal("total", result, span, true);
  check::For loop;
  loop.loop = static_cast<LoopId>(instance.nodes.size());
  loop.index = b.newLocal("k", types.int64(), span);
  Step step{StepKind::Element, 0, b.local(loop.index, span), {}, {}, 1, span};
  auto at = [&](NodeId list) { return b.make(NodeKind::Get, element, span, {list}, Steps{{step}}); };
  NodeId part = b.convert(leaves.dot(at(x), at(y), span), result, span);
  NodeId sum = b.op(OpKind::Add, result, {b.local(total, span), part}, span);
  NodeId add = b.make(NodeKind::Assign, unit, span, {sum}, Place{total, {}, result});
  NodeId refuse =
      b.make(NodeKind::If, unit, span,
             {differ(length(x), length(y)), refuseTangents("`dot` of tangents of two lengths", span)});
  NodeId each = b.make(NodeKind::For, unit, span, {b.integer(0, span), length(x), add}, loop);
  NodeId both = b.op(OpKind::And, types.boolean(),
                     {differ(length(x), b.integer(0, span)), differ(length(y), b.integer(0, span))}, span);
  NodeId some = b.make(NodeKind::If, unit, span, {both, b.block({refuse, each, b.unit(span)}, span)});
  return b.block({b.let(total, b.number("0", result, span)), some, b.local(total, span)}, span);
}

} // namespace melix::check
