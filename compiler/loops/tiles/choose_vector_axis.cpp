#include "loops/tiles/choose_vector_axis.h"

#include "loops/analysis/perfect_nest.h"
#include "loops/analysis/vectorizability.h"
#include "loops/tiles/permute_loops.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t fewColumns = 16;  ///< iterations that fill no register
constexpr int64_t manyColumns = 64; ///< that fill a panel, as those of the innermost loop seldom do
constexpr int64_t manyTerms = 64;   ///< of a sum, which make up for results that are stored with a stride

/// A condition: its value if it is known when compiling, else the value that the program computes.
struct MaybeKnown {
  std::optional<bool> known;
  ValueId asked;
};
MaybeKnown both(Builder& b, MaybeKnown x, MaybeKnown y) {
  if (x.known) return *x.known ? y : x;
  if (y.known) return *y.known ? x : y;
  return {std::nullopt, b.both(x.asked, y.asked)};
}
MaybeKnown either(Builder& b, MaybeKnown x, MaybeKnown y) {
  if (x.known) return *x.known ? x : y;
  if (y.known) return *y.known ? y : x;
  return {std::nullopt, b.either(x.asked, y.asked)};
}
/// Whether one number is at least the other times a factor.
MaybeKnown isAtLeast(Builder& b, ValueId v, ValueId other, int64_t times = 1) {
  const uint64_t *x = b.asConstant(v), *y = b.asConstant(other);
  if (x && y) return {static_cast<int64_t>(*x) >= times * static_cast<int64_t>(*y), {}};
  const ValueId bound = times == 1 ? other : b.arith(OpKind::Mul, other, b.integer(times));
  return {std::nullopt, b.compare(CmpKind::Ge, v, bound)};
}

class VectorAxisChooser {
public:
  VectorAxisChooser(const Module& module, Function& fn) : module_(module), fn_(fn), b_(fn) {}

  void run() {
    rewriteStmts(fn_, fn_.body, [this](StmtId id, RegionId r) { return chosen(id, r); });
  }

private:
  /// Whether the loops stand in another order now.
  bool chosen(StmtId outer, RegionId home) {
    if (!isPointsLoop(fn_.stmts[outer])) return false;
    const std::vector<StmtId> loops = perfectPoints(module_, fn_, outer);
    if (loops.size() < 3) return false;
    Contraction found{loops, loops.back(), sumsIn(fn_, loops.back()), {}, {}};
    found.around.pop_back();
    if (found.sums.empty()) return false;
    const std::optional<StmtId> columns = columnsOf(loops, found);
    if (!columns) return false;
    const SharedSide side(module_, fn_, found);
    if (!areEndsFixed(found, side)) return false;
    std::vector<StmtId> order;
    std::ranges::copy_if(loops, std::back_inserter(order), [&](StmtId id) { return id != *columns; });
    order.push_back(*columns);
    return write(home, side, found, loops, order);
  }

  /// The loop that is to go inside: of those that can, the one whose reads are the same at the points of most
  /// other loops.
  std::optional<StmtId> columnsOf(const std::vector<StmtId>& loops, const Contraction& found) const {
    std::vector<Variance> variances;
    for (StmtId id : loops) variances.emplace_back(fn_, fn_.stmts[id]);
    Inside inside;
    look(fn_.stmts[found.sums.front()].regions[0], inside);
    std::optional<StmtId> best;
    size_t most = 1; // loops that share
    for (size_t k = 0; k + 1 < loops.size(); ++k) {
      if (!canBeColumns(loops[k], variances[k], variances.back(), found, inside)) continue;
      size_t sharing = 0;
      for (size_t other = 0; other < loops.size(); ++other)
        sharing += other != k && std::ranges::all_of(inside.reads, [&](ValueId v) {
                     return variances[k].isUniform(v) || variances[other].isUniform(v);
                   });
      if (sharing <= most) continue;
      best = loops[k];
      most = sharing;
    }
    return best;
  }
  /// What sums read, and the conditions of their branches.
  struct Inside {
    std::vector<ValueId> reads, conditions;
  };
  void look(RegionId r, Inside& inside) const {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::Load) inside.reads.push_back(s.results[0]);
      if (s.kind == StmtKind::If) inside.conditions.push_back(s.operands[0]);
      for (RegionId inner : s.regions) look(inner, inside);
    }
  }
  bool canBeColumns(StmtId loop, const Variance& columns, const Variance& rows, const Contraction& found,
                    const Inside& inside) const {
    if (!canVectorize(module_, fn_, fn_.stmts[loop]) || !columns.allUniform(inside.conditions)) return false;
    for (StmtId sum : found.sums)
      if (!columns.allUniform(std::span(fn_.stmts[sum].operands).first(2))) return false;
    const auto isOf = [](const Variance& one, const Variance& other) {
      return [&](ValueId v) { return !one.isUniform(v) && other.isUniform(v); };
    };
    const bool isStrided = std::ranges::none_of(
        inside.reads, [&](ValueId v) { return !columns.isUniform(v) && !rows.isUniform(v); });
    return isStrided && std::ranges::any_of(inside.reads, isOf(columns, rows)) &&
           std::ranges::any_of(inside.reads, isOf(rows, columns));
  }
  /// Whether lanes of the innermost loop read what lies beside them, or under a mask: what they read as it
  /// lies, they read at no cost.
  bool readsWindows(const Contraction& found) const {
    const Variance columns(fn_, fn_.stmts[found.columns]);
    const ValueId index = fn_.regions[fn_.stmts[found.columns].regions[0]].params[0];
    Inside inside;
    look(fn_.stmts[found.sums.front()].regions[0], inside);
    return !columns.allUniform(inside.conditions) || std::ranges::any_of(inside.reads, [&](ValueId read) {
      const std::vector<ValueId>& operands = fn_.stmts[fn_.values[read].def].operands;
      return std::ranges::any_of(std::span(operands).subspan(1),
                                 [&](ValueId v) { return v != index && !columns.isUniform(v); });
    });
  }

  /// In place of the loops: a choice of both orders, or one of them, where all is known. Whether they
  /// changed.
  bool write(RegionId home, const SharedSide& side, const Contraction& found, std::span<const StmtId> loops,
             std::span<const StmtId> order) {
    b_.loc = fn_.stmts[loops.front()].loc;
    const RegionId made = b_.begin();
    const MaybeKnown gains = gainsBy(side, found, order.back());
    if (gains.known) {
      b_.end();
      if (*gains.known) reorderPoints(fn_, home, side, loops, order);
      return *gains.known;
    }
    const RegionId other = b_.begin();
    writeInOrder(b_, side, loops, order);
    b_.end();
    const RegionId same = b_.begin();
    fn_.regions[same].stmts.push_back(loops.front());
    b_.end();
    b_.stmt(StmtKind::If, {gains.asked}, {}, {}, {other, same});
    b_.end();
    replaceStmt(fn_, made, home, loops.front());
    return true;
  }
  /// Whether the lanes of a loop do more than those of the innermost one.
  MaybeKnown gainsBy(const SharedSide& side, const Contraction& found, StmtId loop) {
    Copies fixed;
    auto iterations = [&](StmtId id) {
      if (const std::optional<uint64_t> known = constantTripCount(fn_, fn_.stmts[id]))
        return b_.integer(static_cast<int64_t>(*known));
      const std::vector<ValueId> ends = fn_.stmts[id].operands;
      const ValueId first = side.writeFixed(b_, ends[0], fixed), end = side.writeFixed(b_, ends[1], fixed);
      return b_.arith(OpKind::Sub, end, first);
    };
    std::vector<ValueId> extents;
    for (size_t k = 0; k < found.sums.size(); ++k)
      if (const auto extent = side.extentOf(k)) extents.push_back(side.writeFixed(b_, extent->end, fixed));
    const ValueId rows = iterations(found.columns), columns = iterations(loop);
    const MaybeKnown isFewer = isAtLeast(b_, columns, rows, 2),
                     areFew = isAtLeast(b_, b_.integer(fewColumns - 1), rows),
                     areMany = isAtLeast(b_, columns, b_.integer(manyColumns)),
                     isLong = isAtLeast(b_, b_.product(extents), b_.integer(manyTerms));
    const MaybeKnown isShort = both(b_, areFew, isFewer);
    return readsWindows(found) ? either(b_, isShort, both(b_, areMany, isLong)) : isShort;
  }

  const Module& module_;
  Function& fn_;
  Builder b_;
};

} // namespace

void chooseVectorAxis(const Module& module, Function& function) { VectorAxisChooser(module, function).run(); }

} // namespace melix::loops
