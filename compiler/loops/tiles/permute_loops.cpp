#include "loops/tiles/permute_loops.h"

#include <algorithm>

namespace melix::loops {

namespace {

class Reorder {
public:
  Reorder(Builder& b, std::span<const StmtId> loops, std::span<const StmtId> order)
      : b_(b), loops_(loops), order_(order), points_(&fixed_) {}

  void write(const SharedSide& side) {
    b_.loc = b_.fn.stmts[loops_.front()].loc;
    for (StmtId id : order_)
      for (ValueId end : endsOf(id)) side.writeFixed(b_, end, fixed_);
    level(0);
  }

private:
  std::vector<ValueId> endsOf(StmtId loop) const {
    const std::vector<ValueId>& operands = b_.fn.stmts[loop].operands;
    return {operands.begin(), operands.begin() + 2};
  }
  /// The loops of the order from a level on.
  void level(size_t at) {
    if (at == order_.size()) return bodies();
    const Stmt loop = b_.fn.stmts[order_[at]];
    b_.carryLoop(
        fixed_.of(loop.operands[0]), fixed_.of(loop.operands[1]), {},
        [&](ValueId index, const std::vector<ValueId>& none) {
          const ValueId original = b_.fn.regions[loop.regions[0]].params[0];
          b_.fn.values[index].hint = b_.fn.values[original].hint;
          points_.set(original, index);
          level(at + 1);
          return none;
        },
        loop.as<ForAttr>());
  }
  /// What stood in each of the loops but the next one.
  void bodies() {
    for (StmtId loop : loops_) {
      const std::vector<StmtId> stmts = b_.fn.regions[b_.fn.stmts[loop].regions[0]].stmts;
      for (StmtId id : stmts)
        if (std::ranges::find(loops_, id) == loops_.end() && b_.fn.stmts[id].kind != StmtKind::Yield)
          clone(b_, id, points_);
    }
  }

  Builder& b_;
  std::span<const StmtId> loops_, order_;
  Copies fixed_, points_;
};

} // namespace

bool areEndsFixed(const Contraction& found, const SharedSide& side) {
  return side.areEndsFixed(found.columns) &&
         std::ranges::all_of(found.around, [&](StmtId loop) { return side.areEndsFixed(loop); });
}

void writeInOrder(Builder& b, const SharedSide& side, std::span<const StmtId> loops,
                  std::span<const StmtId> order) {
  Reorder(b, loops, order).write(side);
}

void reorderPoints(Function& fn, RegionId home, const SharedSide& side, std::span<const StmtId> loops,
                   std::span<const StmtId> order) {
  Builder b(fn);
  const RegionId made = b.begin();
  writeInOrder(b, side, loops, order);
  b.end();
  replaceStmt(fn, made, home, loops.front());
}

} // namespace melix::loops
