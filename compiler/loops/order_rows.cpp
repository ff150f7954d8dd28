#include "loops/order_rows.h"

#include "loops/lanes.h"
#include "loops/perfect_points.h"
#include "loops/row_gains.h"
#include "loops/shared_side.h"

#include <algorithm>

namespace melix::loops {
namespace {

class RowOrder {
public:
  RowOrder(const Module& module, Function& fn) : module_(module), fn_(fn), b_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      if (moved(id, r)) continue;
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) region(each);
    }
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
    if (found.sums.empty() || !canWiden(module_, fn_, columns) || !gains(outer, columns) ||
        std::ranges::any_of(between, [&](StmtId id) { return gains(id, columns); }))
      return false;
    const SharedSide side(module_, fn_, found);
    auto areFixed = [&](StmtId loop) { return side.areEndsFixed(loop); };
    if (!areFixed(found.columns) || !std::ranges::all_of(found.around, areFixed)) return false;
    write(found, home, side);
    return true;
  }
  bool gains(StmtId rows, const Stmt& columns) const {
    const std::optional<uint64_t> turns = turnsOf(fn_, fn_.stmts[rows]);
    return (!turns || *turns > 1) && gainsAround(module_, fn_, fn_.stmts[rows], columns);
  }

  void write(const Contraction& found, RegionId home, const SharedSide& side) {
    const StmtId outer = found.around.front();
    b_.loc = fn_.stmts[outer].loc;
    const RegionId made = b_.begin();
    Copies fixed;
    std::vector<StmtId> order(found.around.begin() + 1, found.around.end());
    order.push_back(outer);
    for (StmtId id : order)
      for (ValueId end : std::vector(fn_.stmts[id].operands)) side.writeFixed(b_, end, fixed);
    Copies points(&fixed);
    writeLoops(found, order, 0, fixed, points);
    b_.end();
    const size_t place = placeOf(fn_, home, outer);
    std::erase(fn_.regions[home].stmts, outer);
    splice(fn_, made, home, place);
  }
  /// The loops of the order from a level on, and in them what stood in all of them.
  void writeLoops(const Contraction& found, std::span<const StmtId> order, size_t level, const Copies& fixed,
                  Copies& points) {
    if (level == order.size()) return writeBodies(found, points);
    const Stmt loop = fn_.stmts[order[level]];
    b_.carryLoop(
        fixed.of(loop.operands[0]), fixed.of(loop.operands[1]), {},
        [&](ValueId index, const std::vector<ValueId>& none) {
          const ValueId original = fn_.regions[loop.regions[0]].params[0];
          fn_.values[index].hint = fn_.values[original].hint;
          points.set(original, index);
          writeLoops(found, order, level + 1, fixed, points);
          return none;
        },
        loop.as<ForAttr>());
  }
  void writeBodies(const Contraction& found, Copies& points) {
    for (size_t k = 0; k < found.around.size(); ++k) {
      const StmtId inside = k + 1 < found.around.size() ? found.around[k + 1] : found.columns;
      const std::vector<StmtId> stmts = fn_.regions[fn_.stmts[found.around[k]].regions[0]].stmts;
      for (StmtId id : stmts)
        if ((id != inside || inside == found.columns) && fn_.stmts[id].kind != StmtKind::Yield)
          clone(b_, id, points);
    }
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
};

} // namespace

void orderRows(const Module& module, Function& function) { RowOrder(module, function).region(function.body); }

} // namespace melix::loops
