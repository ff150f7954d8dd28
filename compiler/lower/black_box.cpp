// What `black_box` is given is computed where it stands, each time. It is the body of a function of its own,
// which is never inlined and whose result goes through a `black_box`: calls of it are effects in order, so no
// pass moves them out of a loop, takes two of them for one, or computes a part of one elsewhere.
#include "lower/black_box.h"

#include "core/order/outline.h"
#include "lower/body.h"
#include "lower/control.h"

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

ValueId lowerBlackBox(BodyLowering& fn, const Node& node) {
  const NodeId operand = node.children[0];
  auto boxed = [&fn](ValueId v) { return fn.b.one(Builder::simple(OpKind::BlackBox, {v}), fn.b.typeOf(v)); };
  if (isThere(fn.instance.nodes[operand].kind) || fn.types.kind(node.type) == TypeKind::Never)
    return fn.after({operand}, node.type, [&](std::vector<ValueId> v) { return boxed(v[0]); });
  // One arm, which always runs: what it changes, and whether it leaves, come out of it with its value.
  const ValueId value = branches(fn, Builder::simple(OpKind::If, {}), {[&](RegionId) {
                                   const ValueId v = fn.expr(operand);
                                   return fn.exits.flow == FlowKind::Off ? v : boxed(v);
                                 }},
                                 node.type, {});
  const core::FunctionId made = core::outline(fn.module, fn.function, fn.b.fn().values[value].def, "boxed");
  fn.module.functions[made].isCold = true;
  return value;
}

} // namespace melix::lower
