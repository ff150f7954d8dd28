#include "loops/index_sets/hoist_integer_division.h"

#include "loops/analysis/induction.h"

namespace melix::loops {
namespace {

using Moved = std::unordered_set<StmtId>;

/// Takes statements out of a region, at any depth.
void leave(Function& fn, RegionId region, const Moved& moved) {
  std::erase_if(fn.regions[region].stmts, [&](StmtId id) { return moved.contains(id); });
  for (StmtId id : fn.regions[region].stmts)
    for (RegionId inner : fn.stmts[id].regions) leave(fn, inner, moved);
}

/// What stands in place of the loop.
std::vector<StmtId> hoist(Function& fn, StmtId loop, RegionId home) {
  const Slopes slopes(fn, fn.stmts[loop], SlopeRange::Loop);
  std::vector<StmtId> out = slopes.withOperands(slopes.quotients);
  if (!out.empty()) leave(fn, fn.stmts[loop].regions[0], Moved(out.begin(), out.end()));
  for (StmtId id : out)
    for (ValueId v : fn.stmts[id].results) fn.values[v].region = home;
  out.push_back(loop);
  return out;
}

} // namespace

void hoistIntegerDivision(Function& function) {
  replaceInnermost(function, function.body,
                   [&](StmtId loop, RegionId home) { return hoist(function, loop, home); });
}

} // namespace melix::loops
