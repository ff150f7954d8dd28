#pragma once
// What analyses of values do with a loop: what flows into its carries flows around it until nothing changes.

#include "core/ir.h"

namespace melix::transforms {

/// Of a `for` (one operand and parameter, `lead`, before the carries) or a `while`. `flow(from, to)` and
/// `body()`, a pass over the body, set `changed` where they learn something.
template <class Flow, class Body>
void flowAround(const core::Function& f, const core::Op& loop, size_t lead, bool& changed, Flow flow,
                Body body) {
  const core::Region& region = f.regions[loop.regions.back()];
  const size_t carries = loop.operands.size() - lead;
  for (size_t i = 0; i < carries; ++i) flow(loop.operands[lead + i], region.params[lead + i]);
  bool outer = changed;
  do {
    changed = false;
    body();
    const core::Op& yield = f.ops[region.ops.back()];
    for (size_t i = 0; i < carries; ++i) flow(yield.operands[i], region.params[lead + i]);
    outer |= changed;
  } while (changed);
  changed = outer;
}

} // namespace melix::transforms
