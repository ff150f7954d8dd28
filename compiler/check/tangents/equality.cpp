// `==` of enums and Lists: arms by case, elements one by one (rule 18). Lists, and enums and structs inside
// of themselves, are compared by an instance of their own. A `==` that a user declared goes before that,
// wherever in a value its structs or enums stand (rule 48).
#include "check/tangents/equality.h"

#include "check/signatures/lookup.h"

namespace melix::check {

using namespace syntax;

NodeId Body::callOwnEquality(NodeId x, NodeId y, Span span) {
  const TypeKind k = b.kindOf(x);
  if (k != TypeKind::Struct && k != TypeKind::Enum) return NodeId::none();
  const CallArg left{NameId::none(), SynId::none(), x, span}, right{NameId::none(), SynId::none(), y, span};
  NodeId own = declaredOperator(types.names.intern(spelling(BinaryOp::Eq)), {left, right}, span);
  return own.valid() ? boolean(own, "`==` inside of a value", span) : own;
}

Span placeOfEquality(const Body& body) {
  Checker& c = body.c;
  if (functionLayers(c, body.module, c.types.names.intern(spelling(BinaryOp::Eq))).empty()) return {};
  const Ast& tree = c.modules[body.module].ast;
  return {tree.span(tree.root).file, 0, 0};
}

NodeId Body::callEquality(NodeId x, NodeId y, Span span) {
  TypeId type = b.typeOf(x);
  bool recursive = std::find(compared.begin(), compared.end(), type) != compared.end();
  if (types.kind(type) == TypeKind::Enum && !recursive) return equalCases(x, y, span);
  const LocalId nested = lookupAny(types.names.intern(spelling(BinaryOp::Eq)));
  if (types.kind(type) == TypeKind::List && nested) { // a `==` of this function, which no instance sees
    std::vector<NodeId> nodes;
    NodeId left = b.local(b.bind("left", x, nodes), span), right = b.local(b.bind("right", y, nodes), span);
    nodes.push_back(equalElements(left, right, span));
    return b.block(std::move(nodes), span);
  }
  Known known;
  known.kind = KnownKind::Equality;
  known.name = "==";
  return callOwn(std::move(known), placeOfEquality(*this), {x, y}, span);
}

/// The body of the instance that compares `x` and `y`.
NodeId Body::equalityBody(NodeId x, NodeId y, Span span) {
  switch (b.kindOf(x)) {
  case TypeKind::List: return equalElements(x, y, span);
  case TypeKind::Struct: return b.equalParts(x, y, span);
  default: return equalCases(x, y, span);
  }
}

/// `match x { Case(l…) => match y { Case(r…) => l == r and …, _ => false } … }`
NodeId Body::equalCases(NodeId x, NodeId y, Span span) {
  TypeId type = b.typeOf(x);
  compared.push_back(type);
  std::vector<NodeId> nodes;
  NodeId left = b.local(b.bind("left", x, nodes), span), right = b.local(b.bind("right", y, nodes), span);
  const size_t count = types.recordInfo(types[type].record).cases.size();
  Arms outer;
  for (uint32_t k = 0; k < count; ++k) {
    std::vector<NodeId> l, r;
    PatternId mine = casePattern(type, k, l, span), theirs = casePattern(type, k, r, span);
    NodeId same = b.boolean(true, span);
    for (size_t f = 0; f < l.size(); ++f) {
      NodeId part = b.equal(l[f], r[f], span);
      same = f == 0 ? part : b.make(NodeKind::ShortAnd, types.boolean(), span, {same, part});
    }
    Arms inner;
    inner.arms.push_back({theirs, NodeId::none(), same});
    if (count > 1) inner.arms.push_back({anyPattern(type, span), NodeId::none(), b.boolean(false, span)});
    NodeId match = b.make(NodeKind::Match, types.boolean(), span, {right}, std::move(inner));
    outer.arms.push_back({mine, NodeId::none(), match});
  }
  compared.pop_back();
  nodes.push_back(b.make(NodeKind::Match, types.boolean(), span, {left}, std::move(outer)));
  return b.block(std::move(nodes), span);
}

/// `var same = len(x) == len(y); if same { for k in 0..len(x) { if x[k] != y[k] { same = false; break } } };
/// same`
NodeId Body::equalElements(NodeId x, NodeId y, Span span) {
  TypeId element = types[b.typeOf(x)].parts[0], unit = types.unit();
  auto length = [&](NodeId list) { return b.make(NodeKind::Length, types.int64(), span, {list}); };
  LocalId same = b.newLocal("same", types.boolean(), span, true);
  auto equalLengths = static_cast<uint32_t>(ops::CmpKind::Eq);
  NodeId init = b.op(OpKind::Cmp, types.boolean(), {length(x), length(y)}, span, equalLengths);
  check::For loop;
  loop.loop = static_cast<LoopId>(instance.nodes.size());
  loop.index = b.newLocal("k", types.int64(), span);
  auto at = [&](NodeId list) {
    Step step{StepKind::Element, 0, b.local(loop.index, span), {}, {}, 1, span};
    return b.make(NodeKind::Get, element, span, {list}, Steps{{step}});
  };
  NodeId equal = b.equal(at(x), at(y), span);
  if (b.kindOf(equal) == TypeKind::Error) return equal;
  NodeId no =
      b.make(NodeKind::Assign, unit, span, {b.boolean(false, span)}, Place{same, {}, types.boolean()});
  NodeId leave = b.make(NodeKind::Break, types.never(), span, {}, check::Loop{loop.loop});
  NodeId body = b.make(NodeKind::If, unit, span, {equal, b.unit(span), b.block({no, leave}, span)});
  NodeId each = b.make(NodeKind::For, unit, span, {b.integer(0, span), length(x), body}, loop);
  NodeId some = b.make(NodeKind::If, unit, span, {b.local(same, span), each});
  return b.block({b.let(same, init), some, b.local(same, span)}, span);
}

} // namespace melix::check
