#pragma once
// Going over the ops of a region and putting others in the place of some.

#include "core/ir.h"

namespace melix::transforms {

/// `rewrite(op)` appends to the region, which is empty then, what comes after the op; whether the op stays.
template <class Rewrite>
void rewriteRegion(core::Function& f, core::RegionId region, Rewrite rewrite) {
  std::vector<core::OpId> out;
  for (core::OpId id : std::vector<core::OpId>(f.regions[region].ops)) {
    f.regions[region].ops.clear();
    if (rewrite(id)) out.push_back(id);
    const std::vector<core::OpId>& made = f.regions[region].ops;
    out.insert(out.end(), made.begin(), made.end());
  }
  f.regions[region].ops = std::move(out);
}

} // namespace melix::transforms
