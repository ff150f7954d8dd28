#pragma once
// The side of a contraction that all its rows share: whether it can be computed in front of them, and copies
// of what computes it.

#include "loops/analysis/contraction.h"
#include "loops/ir/clone.h"

#include <algorithm>
#include <functional>
#include <span>
#include <unordered_set>

namespace melix::loops {

class SharedSide {
public:
  SharedSide(const Module& module, const Function& fn, const Contraction& found);

  /// Whether it is computed from columns, sums, memory, and what is the same in all turns around.
  bool isFree() const { return isFree_; }
  /// How far the sums go, from 0: the extents of those that it differs with. None for the others, which are
  /// there to cut another one in blocks; nothing at all if an extent is not known in front.
  struct Extent {
    size_t sum;
    ValueId end;
  };
  const std::optional<std::vector<Extent>>& extents() const { return extents_; }
  /// Of one sum, if it is known in front.
  std::optional<Extent> extentOf(size_t sum) const;
  /// Statements that differ between columns.
  std::span<const StmtId> terms() const { return terms_; }
  /// A number that does not depend on any turn; it is copied where the builder stands.
  bool isFixed(ValueId v) const { return fixed_.holds(v); }
  /// Whether both ends of a loop are.
  bool areEndsFixed(StmtId loop) const {
    return std::ranges::all_of(std::span(fn_.stmts[loop].operands).first(2),
                               [this](ValueId v) { return isFixed(v); });
  }
  ValueId writeFixed(Builder& b, ValueId v, Copies& copies) const { return fixed_.write(b, v, copies); }

  /// What stands around the columns and is needed.
  void writeAround(Builder& b, Copies& copies) const;
  /// Copies of the loops over all sums; in the innermost one stands what `term` writes.
  void writeSums(Builder& b, Copies& copies, const std::function<void()>& term) const;
  /// The same, but for the innermost one, whose ends `row` is given.
  void writeOuterSums(Builder& b, Copies& copies,
                      const std::function<void(ValueId first, ValueId end)>& row) const;
  /// What the innermost sum needs that is the same for all columns; then what differs.
  void writeRow(Builder& b, Copies& copies) const;
  void writeTerms(Builder& b, Copies& copies) const;
  bool carriesInRow() const { return !carries_.back().empty(); }

private:
  int levelOf(ValueId v) const;
  void need(ValueId v);
  void needParam(ValueId v, int level);
  bool isNotNegative(ValueId v) const;
  bool turns(size_t sum) const { return usesIndex_[sum] || !carries_[sum].empty(); }
  void writeSame(Builder& b, RegionId region, Copies& copies) const;
  void writeSum(Builder& b, size_t sum, Copies& copies, const std::function<void(size_t)>& inside) const;
  void writeBody(Builder& b, size_t sum, Copies& copies, const std::function<void(size_t)>& inside) const;

  const Module& module_;
  const Function& fn_;
  const Contraction& found_;
  const FixedNumbers fixed_;
  const Variance columns_;
  std::vector<RegionId> path_; ///< bodies of the loops around, of the columns, of the sums
  std::unordered_set<ValueId> seen_;
  std::unordered_set<StmtId> needed_;
  std::vector<bool> usesIndex_;              ///< of sums
  std::vector<std::vector<size_t>> carries_; ///< of sums, that are needed
  std::vector<StmtId> terms_;
  std::optional<std::vector<Extent>> extents_;
  bool isFree_ = true;
};

} // namespace melix::loops
