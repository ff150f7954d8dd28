#include "loops/index_sets/split_reduction_range.h"

#include "loops/analysis/iteration_bounds.h"
#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

constexpr int64_t rowsAtATime = 48;
constexpr uint64_t longestShortChain = 64; ///< iterations of a sum that is not cut

class ChainCutter {
public:
  ChainCutter(Function& fn, const Contraction& found, RegionId home, KeepsCarries keeps)
      : fn_(fn), b_(fn), found_(found), home_(home), keeps_(keeps), chain_(found.chain()),
        body_(fn.stmts[chain_].regions[0]) {}

  void run() {
    const std::optional<uint64_t> tripCount = constantTripCount(fn_, fn_.stmts[chain_]);
    if (tripCount && *tripCount <= longestShortChain) return;
    const Variance rows(fn_, fn_.stmts[found_.rows()]), columns(fn_, fn_.stmts[found_.columns]);
    for (StmtId id : std::vector(fn_.regions[body_].stmts)) {
      if (fn_.stmts[id].kind != StmtKind::If) continue;
      for (ValueId v : conjuncts(fn_, fn_.stmts[id].operands[0]))
        if (!rows.isUniform(v) && columns.isUniform(v) && isBound(v)) return cut(id, v);
    }
  }

private:
  /// Whether a condition bounds the iterations of the sum from one side.
  bool isBound(ValueId condition) {
    b_.begin();
    const bool is = MaskRange(b_, chain_, found_.rows()).take(condition);
    b_.end();
    return is;
  }

  void cut(StmtId branch, ValueId condition) {
    const bool stores = std::ranges::any_of(
        fn_.regions[body_].stmts, [this](StmtId id) { return fn_.stmts[id].kind == StmtKind::Store; });
    const bool mayEnd =
        !stores && conjuncts(fn_, fn_.stmts[branch].operands[0]).size() == 1 && keeps_(found_, branch);
    stripMine(b_, found_.rows(), home_, rowsAtATime);
    const RegionId around = aroundChain();
    b_.loc = fn_.stmts[chain_].loc;
    const RegionId front = b_.begin();
    const std::vector<ValueId> ends = fn_.stmts[chain_].operands;
    MaskRange all(b_, chain_, found_.rows()), none(b_, chain_, found_.rows());
    all.take(condition);
    none.take(condition, false);
    const MaskRange::Rows holds = all.rows(), fails = none.rows();
    if (all.isLeast()) { // some, then all
      const ValueId from = b_.select(same(fails.first, ends[0]), fails.end, ends[0]);
      const ValueId begin = mayEnd ? b_.arith(OpKind::Min, from, holds.first) : ends[0];
      b_.end();
      splice(fn_, front, around, placeOf(fn_, around, chain_));
      setEnds(chain_, begin, holds.first);
      splitAfter(around, branch, condition, holds.first, ends[1]);
    } else { // all, then some
      const ValueId begin = b_.select(same(holds.first, ends[0]), holds.end, ends[0]);
      const ValueId end = mayEnd ? b_.arith(OpKind::Max, begin, fails.first) : ends[1];
      const std::vector<ValueId> sums =
          copyUnconditional(branch, condition, ends[0], begin, {ends.begin() + 2, ends.end()});
      b_.end();
      splice(fn_, front, around, placeOf(fn_, around, chain_));
      setEnds(chain_, begin, end);
      std::ranges::copy(sums, fn_.stmts[chain_].operands.begin() + 2);
    }
  }
  ValueId same(ValueId a, ValueId b) { return b_.compare(CmpKind::Eq, a, b); }
  void setEnds(StmtId loop, ValueId begin, ValueId end) {
    fn_.stmts[loop].operands[0] = begin;
    fn_.stmts[loop].operands[1] = end;
  }
  /// Where the innermost sum stands.
  RegionId aroundChain() const {
    const StmtId outer = found_.sums.size() > 1 ? found_.sums[found_.sums.size() - 2] : found_.columns;
    return fn_.stmts[outer].regions[0];
  }

  /// The sum where the condition holds: a copy, where the builder stands.
  std::vector<ValueId> copyUnconditional(StmtId branch, ValueId condition, ValueId begin, ValueId end,
                                         const std::vector<ValueId>& carried) {
    Copies copies;
    clone(b_, chain_, copies);
    const std::vector<ValueId> sums = copies.of(fn_.stmts[chain_].results);
    const StmtId made = fn_.values[sums[0]].def;
    setEnds(made, begin, end);
    std::ranges::copy(carried, fn_.stmts[made].operands.begin() + 2);
    const StmtId there = fn_.values[copies.of(fn_.stmts[branch].results[0])].def;
    const ValueId holds = copies.of(condition);
    dropProvenConjuncts(fn_, there, fn_.stmts[made].regions[0], [&](ValueId v) { return v == holds; });
    return sums;
  }
  /// The copy goes on where the sum ends.
  void splitAfter(RegionId around, StmtId branch, ValueId condition, ValueId begin, ValueId end) {
    const std::vector<ValueId> sums = fn_.stmts[chain_].results;
    const RegionId made = b_.begin();
    const std::vector<ValueId> all = copyUnconditional(branch, condition, begin, end, sums);
    b_.end();
    for (size_t k = 0; k < sums.size(); ++k) replaceUses(fn_, around, sums[k], all[k]);
    splice(fn_, made, around, placeOf(fn_, around, chain_) + 1);
  }

  Function& fn_;
  Builder b_;
  const Contraction& found_;
  const RegionId home_;
  KeepsCarries keeps_;
  const StmtId chain_;
  const RegionId body_;
};

} // namespace

void stripMine(Builder& b, StmtId loop, RegionId home, int64_t together) {
  Function& fn = b.fn;
  b.loc = fn.stmts[loop].loc;
  const RegionId made = b.begin();
  const std::vector<ValueId> ends = fn.stmts[loop].operands;
  const ValueId zero = b.integer(0), size = b.integer(together);
  const ValueId count = b.arith(OpKind::Max, b.arith(OpKind::Sub, ends[1], ends[0]), zero);
  const ValueId blocks = b.scalar(OpKind::IDiv, {b.arith(OpKind::Add, count, b.integer(together - 1)), size},
                                  TypeKind::I64, TypeKind::I64);
  ForAttr attr;
  attr.dependence = fn.stmts[loop].as<ForAttr>().dependence;
  b.carryLoop(
      zero, blocks, {},
      [&](ValueId block, const std::vector<ValueId>& nothing) {
        const ValueId first = b.arith(OpKind::Add, ends[0], b.arith(OpKind::Mul, block, size));
        const ValueId last = b.arith(OpKind::Min, ends[1], b.arith(OpKind::Add, first, size));
        fn.stmts[loop].operands[0] = first;
        fn.stmts[loop].operands[1] = last;
        fn.regions[b.current()].stmts.push_back(loop);
        return nothing;
      },
      attr);
  b.end();
  replaceStmt(fn, made, home, loop);
}

void splitReductionRange(Function& fn, StmtId rows, RegionId home, KeepsCarries keeps) {
  if (const std::optional<Contraction> found = findContraction(fn, rows))
    ChainCutter(fn, *found, home, keeps).run();
}

} // namespace melix::loops
