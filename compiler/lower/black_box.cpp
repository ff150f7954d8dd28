// What `black_box` is given is computed where it stands, each time. It is the body of a function of its own,
// which is never inlined and whose result goes through a `black_box`: calls of it are effects in order, so no
// pass moves them out of a loop, takes two of them for one, or computes a part of one elsewhere.
#include "core/order/outline.h"
#include "lower/body.h"

namespace melix::lower {

using namespace check;

/// Whether a node stands for a value that is there already.
static bool isThere(NodeKind kind) {
  switch (kind) {
  case NodeKind::Const:
  case NodeKind::Local:
  case NodeKind::DimValue:
  case NodeKind::Known:
  case NodeKind::ToClosure: return true;
  default: return false;
  }
}

ValueId BodyLowering::blackBox(const Node& node) {
  const NodeId operand = node.children[0];
  auto boxed = [this](ValueId v) { return b_.one(Builder::simple(OpKind::BlackBox, {v}), b_.typeOf(v)); };
  if (isThere(instance_.nodes[operand].kind) || types_.kind(node.type) == TypeKind::Never)
    return after({operand}, node.type, [&](std::vector<ValueId> v) { return boxed(v[0]); });
  // One arm, which always runs: what it changes, and whether it leaves, come out of it with its value.
  const ValueId value = branches(Builder::simple(OpKind::If, {}), {[&](RegionId) {
                                   const ValueId v = expr(operand);
                                   return flow_ == FlowKind::Off ? v : boxed(v);
                                 }},
                                 node.type, {});
  const core::FunctionId made = core::outline(module_, function_, b_.fn().values[value].def, "boxed");
  module_.functions[made].isCold = true;
  return value;
}

} // namespace melix::lower
