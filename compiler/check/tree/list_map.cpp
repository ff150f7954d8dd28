// Lists made of others, element by element.
#include "check/tree/build.h"

namespace melix::check {

NodeId NodeBuilder::elementOf(NodeId list, const Step& k, Span span) {
  return make(NodeKind::Get, types[typeOf(list)].parts[0], span, {list}, Steps{{k}});
}

NodeId NodeBuilder::listOfEach(TypeId element, NodeId count, FunctionRef<NodeId(const Step&)> element_at,
                               Span span) {
  const TypeId list = types.list(element), unit = types.unit();
  const LocalId out = newLocal("out", list, span, true);
  check::For loop;
  loop.loop = static_cast<LoopId>(instance.nodes.size());
  loop.index = newLocal("k", types.int64(), span);
  Step step{StepKind::Element, 0, local(loop.index, span), {}, {}, 1, span};
  NodeId pushed = make(NodeKind::Push, list, span, {local(out, span), element_at(step)});
  NodeId set = make(NodeKind::Assign, unit, span, {pushed}, Place{out, {}, list});
  NodeId each = make(NodeKind::For, unit, span, {integer(0, span), count, set}, loop);
  return block({let(out, make(NodeKind::ListOf, list, span)), each, local(out, span)}, span);
}

} // namespace melix::check
