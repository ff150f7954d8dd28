#include "loops/analysis/drop_dead.h"

#include "loops/analysis/contraction.h"
#include "loops/ir/build.h"

#include <algorithm>
#include <unordered_map>

namespace melix::loops {

void dropUnused(const Module& module, Function& fn, RegionId region) {
  std::unordered_map<ValueId, unsigned> uses;
  forEachUse(fn, region, [&](ValueId v) { ++uses[v]; });
  auto drop = [&](auto& self, RegionId r) -> void {
    std::vector<StmtId> kept;
    const std::vector<StmtId> stmts = fn.regions[r].stmts;
    for (size_t k = stmts.size(); k-- > 0;) {
      const Stmt& s = fn.stmts[stmts[k]];
      const bool isUsed =
          s.results.empty() || std::ranges::any_of(s.results, [&](ValueId v) { return uses[v] > 0; });
      if (isUsed || !isPlain(module, fn, s)) {
        for (RegionId inner : s.regions) self(self, inner);
        kept.push_back(stmts[k]);
      } else {
        for (ValueId v : s.operands) --uses[v];
        for (RegionId inner : s.regions) forEachUse(fn, inner, [&](ValueId v) { --uses[v]; });
      }
    }
    std::ranges::reverse(kept);
    fn.regions[r].stmts = std::move(kept);
  };
  drop(drop, region);
}

} // namespace melix::loops
