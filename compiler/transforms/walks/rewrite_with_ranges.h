#pragma once
// Rewrites the ops of a region and of inner regions, with the ranges known before each op.

#include "core/analysis/ranges.h"
#include "core/ir/work.h"

namespace melix::transforms {

/// `rewrite(op, region)` gives the ops that replace an op, itself too if it stays; the ops inside of the op
/// were visited before. The list of a region stays whole until its end: the ranges are read off the lists
/// around an op, and readers of a value may be in them.
template <class Rewrite>
void rewriteInRanges(core::Module& m, core::FunctionId f, core::Ranges& ranges, core::RegionId region,
                     Rewrite& rewrite) {
  const core::Ranges::Mark mark = ranges.enter(region);
  std::vector<core::OpId> out;
  const std::vector<core::OpId> ops = m.functions[f].regions[region].ops;
  core::work.ops += ops.size();
  for (core::OpId id : ops) {
    const core::Regions inside = m.functions[f].ops[id].regions;
    for (core::RegionId inner : inside) rewriteInRanges(m, f, ranges, inner, rewrite);
    for (core::OpId made : rewrite(id, region)) {
      ranges.define(m.functions[f].ops[made]);
      out.push_back(made);
    }
  }
  m.functions[f].regions[region].ops = std::move(out);
  ranges.leave(mark);
}

} // namespace melix::transforms
