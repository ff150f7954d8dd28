#include "loops/index_sets/trim_vector_reduction.h"

#include "loops/analysis/iteration_bounds.h"
#include "loops/analysis/variance.h"
#include "loops/index_sets/split_reduction_range.h"
#include "loops/index_sets/triangular_reduction.h"
#include "loops/ir/clone.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

class LaneChainCutter {
public:
  LaneChainCutter(Function& fn, StmtId points, RegionId home)
      : fn_(fn), b_(fn), points_(points), home_(home) {}

  void run() {
    find(fn_.stmts[points_].regions[0], Variance(fn_, fn_.stmts[points_]));
    if (chains_.empty()) return;
    const ForAttr lanes = fn_.stmts[points_].as<ForAttr>();
    stripMine(b_, points_, home_, int64_t(lanes.vectorWidth) * std::max(lanes.interleave, 1U));
    for (const Chain& chain : chains_) cut(chain);
  }

private:
  /// Conditions that bound the iterations at which a branch is taken, at each point.
  using Bounds = std::vector<ValueId>;
  /// Sums in the loop, where they stand, and what bounds each branch of theirs.
  struct Chain {
    StmtId loop;
    RegionId home;
    std::vector<Bounds> branches;
  };

  void find(RegionId region, const Variance& points) {
    for (StmtId id : fn_.regions[region].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind != StmtKind::For) continue;
      Chain chain{id, region, {}};
      const std::vector<StmtId> branches = branchesOf(fn_, id);
      for (StmtId branch : branches) chain.branches.push_back(boundsOf(id, branch, points));
      if (branches.empty())
        find(s.regions[0], points);
      else if (points.allUniform(std::span(s.operands).first(2)) &&
               std::ranges::none_of(chain.branches, &Bounds::empty))
        chains_.push_back(std::move(chain));
    }
  }
  Bounds boundsOf(StmtId chain, StmtId branch, const Variance& points) {
    Bounds out;
    b_.begin();
    for (ValueId v : conjuncts(fn_, fn_.stmts[branch].operands[0]))
      if (!points.isUniform(v) && MaskRange(b_, chain, points_).take(v)) out.push_back(v);
    b_.end();
    return out;
  }

  void cut(const Chain& chain) {
    b_.loc = fn_.stmts[chain.loop].loc;
    const RegionId front = b_.begin();
    Ends all = endsOf(chain.loop, chain.branches[0]);
    for (size_t k = 1; k < chain.branches.size(); ++k) {
      const Ends more = endsOf(chain.loop, chain.branches[k]);
      all = {b_.arith(OpKind::Min, all.begin, more.begin), b_.arith(OpKind::Max, all.end, more.end)};
    }
    b_.end();
    splice(fn_, front, chain.home, placeOf(fn_, chain.home, chain.loop));
    setEnds(chain.loop, all.begin, all.end);
  }
  /// Of the iterations at which a branch is taken at some point.
  struct Ends {
    ValueId begin, end;
  };
  Ends endsOf(StmtId chain, const Bounds& bounds) {
    const std::vector<ValueId> whole = fn_.stmts[chain].operands;
    Ends out{whole[0], whole[1]};
    for (ValueId bound : bounds) {
      MaskRange holds(b_, chain, points_), none(b_, chain, points_);
      holds.take(bound);
      none.take(bound, false);
      const MaskRange::Rows fails = none.rows();
      if (holds.isLeast())
        out.begin =
            b_.arith(OpKind::Max, out.begin, b_.select(same(fails.first, whole[0]), fails.end, whole[0]));
      else
        out.end = b_.arith(OpKind::Min, out.end, b_.select(same(fails.end, whole[1]), fails.first, whole[1]));
    }
    return out;
  }
  ValueId same(ValueId a, ValueId b) { return b_.compare(CmpKind::Eq, a, b); }
  void setEnds(StmtId loop, ValueId begin, ValueId end) {
    fn_.stmts[loop].operands[0] = begin;
    fn_.stmts[loop].operands[1] = end;
  }

  Function& fn_;
  Builder b_;
  const StmtId points_;
  const RegionId home_;
  std::vector<Chain> chains_;
};

} // namespace

void trimVectorReduction(Function& fn, StmtId points, RegionId home) {
  LaneChainCutter(fn, points, home).run();
}

} // namespace melix::loops
