#include "loops/choose_columns.h"

#include "loops/lanes.h"
#include "loops/perfect_points.h"
#include "loops/reorder_points.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t fewColumns =
    16; ///< turns that fill no register of the narrowest floats that are summed much

class Chooser {
public:
  Chooser(const Module& module, Function& fn) : module_(module), fn_(fn), b_(fn) {}

  void region(RegionId r) {
    const std::vector<StmtId> stmts = fn_.regions[r].stmts;
    for (StmtId id : stmts) {
      if (chosen(id, r)) continue;
      const std::vector<RegionId> inner = fn_.stmts[id].regions;
      for (RegionId each : inner) region(each);
    }
  }

private:
  /// Whether the loops stand in another order now.
  bool chosen(StmtId outer, RegionId home) {
    if (!isPointsLoop(fn_.stmts[outer])) return false;
    const std::vector<StmtId> loops = perfectPoints(module_, fn_, outer);
    if (loops.size() < 3) return false;
    Contraction found{loops, loops.back(), sumsIn(fn_, loops.back()), {}, {}};
    found.around.pop_back();
    const std::optional<uint64_t> few = turnsOf(fn_, fn_.stmts[found.columns]);
    if (found.sums.empty() || few.value_or(0) >= fewColumns) return false;
    const std::optional<StmtId> columns = columnsOf(loops, found);
    if (!columns) return false;
    const SharedSide side(module_, fn_, found);
    if (!areEndsFixed(found, side)) return false;
    std::vector<StmtId> order;
    std::ranges::copy_if(loops, std::back_inserter(order), [&](StmtId id) { return id != *columns; });
    order.push_back(*columns);
    write(home, side, loops, order);
    return true;
  }

  /// The loop that is to go inside: of those that can, the one whose reads are the same at the points of most
  /// other loops.
  std::optional<StmtId> columnsOf(const std::vector<StmtId>& loops, const Contraction& found) const {
    std::vector<Variance> variances;
    for (StmtId id : loops) variances.emplace_back(fn_, fn_.stmts[id]);
    std::vector<ValueId> reads, conditions;
    look(fn_.stmts[found.sums.front()].regions[0], reads, conditions);
    std::optional<StmtId> best;
    size_t most = 1; // loops that share
    for (size_t k = 0; k + 1 < loops.size(); ++k) {
      if (!canBeColumns(loops[k], variances[k], variances.back(), found, reads, conditions)) continue;
      size_t sharing = 0;
      for (size_t other = 0; other < loops.size(); ++other)
        sharing += other != k && std::ranges::all_of(reads, [&](ValueId v) {
                     return variances[k].isUniform(v) || variances[other].isUniform(v);
                   });
      if (sharing <= most) continue;
      best = loops[k];
      most = sharing;
    }
    return best;
  }
  bool canBeColumns(StmtId loop, const Variance& columns, const Variance& rows, const Contraction& found,
                    const std::vector<ValueId>& reads, const std::vector<ValueId>& conditions) const {
    if (!canWiden(module_, fn_, fn_.stmts[loop]) || !columns.allUniform(conditions)) return false;
    for (StmtId sum : found.sums)
      if (!columns.allUniform(std::span(fn_.stmts[sum].operands).first(2))) return false;
    const auto isOf = [](const Variance& one, const Variance& other) {
      return [&](ValueId v) { return !one.isUniform(v) && other.isUniform(v); };
    };
    const bool isApart =
        std::ranges::none_of(reads, [&](ValueId v) { return !columns.isUniform(v) && !rows.isUniform(v); });
    return isApart && std::ranges::any_of(reads, isOf(columns, rows)) &&
           std::ranges::any_of(reads, isOf(rows, columns));
  }
  /// What is read in a region, and the conditions of its branches.
  void look(RegionId r, std::vector<ValueId>& reads, std::vector<ValueId>& conditions) const {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::Load) reads.push_back(s.results[0]);
      if (s.kind == StmtKind::If) conditions.push_back(s.operands[0]);
      for (RegionId inner : s.regions) look(inner, reads, conditions);
    }
  }

  /// In place of the loops: a choice of both orders, or the new one, where all is known.
  void write(RegionId home, const SharedSide& side, std::span<const StmtId> loops,
             std::span<const StmtId> order) {
    const StmtId few = loops.back(), many = order.back();
    const std::optional<uint64_t> fewTurns = turnsOf(fn_, fn_.stmts[few]),
                                  manyTurns = turnsOf(fn_, fn_.stmts[many]);
    if (fewTurns && manyTurns) {
      if (*manyTurns >= 2 * *fewTurns) reorderPoints(fn_, home, side, loops, order);
      return;
    }
    b_.loc = fn_.stmts[loops.front()].loc;
    const RegionId made = b_.begin();
    Copies fixed;
    auto turns = [&](StmtId loop) {
      const std::vector<ValueId> ends = fn_.stmts[loop].operands;
      const ValueId first = side.writeFixed(b_, ends[0], fixed), end = side.writeFixed(b_, ends[1], fixed);
      return b_.arith(OpKind::Sub, end, first);
    };
    const ValueId count = turns(few), twice = b_.arith(OpKind::Add, count, count);
    const ValueId areMany = b_.compare(CmpKind::Ge, turns(many), twice);
    const ValueId isWorthIt = b_.both(b_.compare(CmpKind::Lt, count, b_.integer(fewColumns)), areMany);
    const RegionId other = b_.begin();
    writeInOrder(b_, side, loops, order);
    b_.end();
    const RegionId same = b_.begin();
    fn_.regions[same].stmts.push_back(loops.front());
    b_.end();
    b_.stmt(StmtKind::If, {isWorthIt}, {}, {}, {other, same});
    b_.end();
    const size_t place = placeOf(fn_, home, loops.front());
    std::erase(fn_.regions[home].stmts, loops.front());
    splice(fn_, made, home, place);
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
};

} // namespace

void chooseColumns(const Module& module, Function& function) {
  Chooser(module, function).region(function.body);
}

} // namespace melix::loops
