// `s * t` and `t / s` of the tangents of enums and Lists (rule 40): by an instance of its own, since such
// types may hold themselves.
#include "check/body/body.h"
#include "check/tree/literal_sign.h"

namespace melix::check {

/// An open literal stays exact until it is rounded to each leaf's type: it is part of the template, any other
/// scalar is an argument.
NodeId Body::callScaled(BinaryKind kind, NodeId t, NodeId scalar, Span span) {
  Known known;
  known.kind = KnownKind::Scaled;
  known.name = std::string(1, kind == BinaryKind::Div ? '/' : '*');
  known.number = static_cast<uint32_t>(kind);
  std::vector<NodeId> args{t};
  if (infer.isOpen(b.typeOf(scalar)) && b.isLiteral(scalar)) {
    const Node& node = instance.nodes[scalar];
    bool negated = node.kind == NodeKind::Op;
    const Node& number = negated ? instance.nodes[node.children[0]] : node;
    known.literal = number.as<Const>().text;
    if (negated) known.literal.insert(known.literal.begin(), '-');
  } else {
    args.push_back(scalar);
  }
  return callOwn(std::move(known), span, args, span);
}

/// The body of the instance that scales `args[0]`.
NodeId Body::scaledBody(const Known& known, const std::vector<NodeId>& args, Span span) {
  const auto kind = static_cast<BinaryKind>(known.number);
  NodeId scalar = args.back();
  if (!known.literal.empty()) {
    bool negated = known.literal[0] == '-';
    TypeId open = infer.freshVar(types::VarClass::OpenFloat, span);
    scalar = b.number(known.literal.substr(negated), open, span);
    if (negated) scalar = b.op(OpKind::Neg, open, {scalar}, span, signOfLiteral);
  }
  auto scaled = [&](NodeId t) { return b.scaleTangent(kind, t, scalar, span); };
  switch (b.kindOf(args[0])) {
  case TypeKind::List: return eachElement(args[0], span, scaled);
  case TypeKind::Struct: return b.eachPart(args[0], scaled, span);
  default: return eachCase(args[0], span, scaled);
  }
}

/// `match t { Case(v…) => Case(each(v)…) … }`
NodeId Body::eachCase(NodeId t, Span span, FunctionRef<NodeId(NodeId)> each) {
  const TypeId type = b.typeOf(t);
  const size_t count = types.recordInfo(types[type].record).cases.size();
  Arms arms;
  for (uint32_t k = 0; k < count; ++k) {
    std::vector<NodeId> fields;
    PatternId pattern = casePattern(type, k, fields, span);
    for (NodeId& field : fields) field = each(field);
    NodeId made = b.make(NodeKind::Variant, type, span, std::move(fields), Index{k});
    arms.arms.push_back({pattern, NodeId::none(), made});
  }
  return b.make(NodeKind::Match, type, span, {t}, std::move(arms));
}

/// `var out = list; for k in 0..len(out) { out[k] = each(out[k]) }; out`
NodeId Body::eachElement(NodeId list, Span span, FunctionRef<NodeId(NodeId)> each) {
  const TypeId type = b.typeOf(list);
  LocalId out = b.newLocal("out", type, span, true);
  NodeId length = b.make(NodeKind::Length, types.int64(), span, {b.local(out, span)});
  NodeId loop = eachPlace(out, length, span, [&](NodeId old, const Step&) { return each(old); });
  return b.block({b.let(out, list), loop, b.local(out, span)}, span);
}

} // namespace melix::check
