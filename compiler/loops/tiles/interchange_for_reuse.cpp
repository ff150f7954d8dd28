#include "loops/tiles/interchange_for_reuse.h"

#include "loops/analysis/perfect_nest.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/tiles/permute_loops.h"

#include <algorithm>

namespace melix::loops {
namespace {

class ReuseInterchange {
public:
  ReuseInterchange(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void run() {
    rewriteStmts(fn_, fn_.body, [this](StmtId id, RegionId r) { return moved(id, r); });
  }

private:
  /// Whether the loop went inside.
  bool moved(StmtId outer, RegionId home) {
    if (!isPointsLoop(fn_.stmts[outer])) return false;
    Contraction found{perfectPoints(module_, fn_, outer), {}, {}, {}, {}};
    if (found.around.size() < 3) return false;
    found.columns = found.around.back();
    found.around.pop_back();
    found.sums = sumsIn(fn_, found.columns);
    const Stmt& columns = fn_.stmts[found.columns];
    const std::span<const StmtId> between = std::span(found.around).subspan(1);
    if (found.sums.empty() || !canVectorize(module_, fn_, columns) || !gains(outer, columns) ||
        std::ranges::any_of(between, [&](StmtId id) { return gains(id, columns); }))
      return false;
    const SharedSide side(module_, fn_, found);
    if (!areEndsFixed(found, side)) return false;
    std::vector<StmtId> order(between.begin(), between.end());
    order.push_back(outer);
    reorderPoints(fn_, home, side, found.around, order);
    return true;
  }
  bool gains(StmtId rows, const Stmt& columns) const {
    const std::optional<uint64_t> tripCount = constantTripCount(fn_, fn_.stmts[rows]);
    return (!tripCount || *tripCount > 1) && gainsAround(module_, fn_, fn_.stmts[rows], columns);
  }

  const Module& module_;
  Function& fn_;
};

} // namespace

void interchangeForReuse(const Module& module, Function& function) {
  ReuseInterchange(module, function).run();
}

} // namespace melix::loops
