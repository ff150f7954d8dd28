#include "lower/on_device.h"

#include "core/order/outline.h"
#include "lower/control.h"

namespace melix::lower {

ValueId lowerOn(BodyLowering& fn, const check::Node& node) {
  const ValueId value =
      branches(fn, Builder::simple(OpKind::If, {}), {[&](RegionId) { return fn.expr(node.children[0]); }},
               node.type, node.resultDims);
  const core::OpId call = fn.b.fn().values[value].def;
  const core::FunctionId made = core::outline(fn.module, fn.function, call, "on");
  fn.b.fn().ops[call].loc = fn.module.locs.add({core::LocKind::BlockCall, node.span, {}, {}});
  core::Function& block = fn.module.functions[made];
  block.name = fn.b.fn().name; // a trace tells the function that it stands in
  block.device = node.as<check::OnDevice>().device;
  return value;
}

} // namespace melix::lower
