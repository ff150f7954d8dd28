#pragma once
// Rewrites the ops of a region: visits each op and replaces some.

#include "core/ir/ir.h"
#include "core/ir/work.h"

namespace melix::transforms {

/// `rewrite(op)` appends the ops that follow the op to the region, which is empty at each call; gives whether
/// the op stays. Functions may be added to the module meanwhile.
template <class Rewrite>
void rewriteRegion(core::Module& m, core::FunctionId f, core::RegionId region, Rewrite rewrite) {
  auto ops = [&]() -> std::vector<core::OpId>& { return m.functions[f].regions[region].ops; };
  const std::vector<core::OpId> before = std::move(ops());
  std::vector<core::OpId> out;
  core::work.ops += before.size();
  for (core::OpId id : before) {
    ops().clear();
    if (rewrite(id))
      out.push_back(id);
    else
      m.functions[f].version.raise();
    out.insert(out.end(), ops().begin(), ops().end());
  }
  ops() = std::move(out);
}

} // namespace melix::transforms
