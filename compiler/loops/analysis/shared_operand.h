#pragma once
// The operand of a contraction that all its rows share: whether it can be computed before them, and copies of
// the statements that compute it.

#include "loops/analysis/contraction.h"
#include "loops/ir/clone.h"
#include "support/function_ref.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace melix::loops {

class SharedSide {
public:
  SharedSide(const Module& module, const Function& fn, const Contraction& found);

  /// Whether it is computed only from columns, sums, memory, and values invariant in all enclosing loops.
  bool isMovable() const { return isMovable_; }
  /// The ranges of the sums, from 0: the extents of the sums that the operand varies with. The others only
  /// cut another sum into blocks and have none. None at all if an extent is not known before the loops.
  struct Extent {
    size_t sum;
    ValueId end;
  };
  const std::optional<std::vector<Extent>>& extents() const { return extents_; }
  /// The extent of one sum, if it is known before the loops.
  std::optional<Extent> extentOf(size_t sum) const;
  /// Statements that differ between columns.
  std::span<const StmtId> terms() const { return terms_; }
  /// A number that depends on no iteration; `writeFixed` copies it to the builder's position.
  bool isFixed(ValueId v) const { return fixed_.holds(v); }
  /// Whether both ends of a loop are such numbers.
  bool areEndsFixed(StmtId loop) const {
    return std::ranges::all_of(std::span(fn_.stmts[loop].operands).first(2),
                               [this](ValueId v) { return isFixed(v); });
  }
  ValueId writeFixed(Builder& b, ValueId v, Copies& copies) const { return fixed_.write(b, v, copies); }

  /// Copies the needed statements that stand around the columns.
  void writeAround(Builder& b, Copies& copies) const;
  /// Copies the loops over all sums; `term` writes the body of the innermost one.
  void writeSums(Builder& b, Copies& copies, FunctionRef<void()> term) const;
  /// The same without the innermost loop, whose ends `row` is given.
  void writeOuterSums(Builder& b, Copies& copies, FunctionRef<void(ValueId first, ValueId end)> row) const;
  /// Copies the statements that the innermost sum needs: first those uniform over the columns, then the
  /// others.
  void writeRow(Builder& b, Copies& copies) const;
  void writeTerms(Builder& b, Copies& copies) const;
  bool carriesInRow() const { return !carries_.back().empty(); }

private:
  int levelOf(ValueId v) const;
  void need(ValueId v);
  void needParam(ValueId v, int level);
  bool isNotNegative(ValueId v) const;
  bool iterates(size_t sum) const { return usesIndex_[sum] || !carries_[sum].empty(); }
  void writeSame(Builder& b, RegionId region, Copies& copies) const;
  void writeSum(Builder& b, size_t sum, Copies& copies, FunctionRef<void(size_t)> inside) const;
  void writeBody(Builder& b, size_t sum, Copies& copies, FunctionRef<void(size_t)> inside) const;

  const Module& module_;
  const Function& fn_;
  const Contraction& found_;
  const FixedNumbers fixed_;
  const Variance columns_;
  std::vector<RegionId> path_; ///< bodies of the enclosing loops, the columns, the sums
  std::unordered_set<ValueId> seen_;
  std::unordered_set<StmtId> needed_;
  std::vector<bool> usesIndex_;              ///< by sum: whether its index is used
  std::vector<std::vector<size_t>> carries_; ///< the needed carries of each sum
  std::vector<StmtId> terms_;
  std::optional<std::vector<Extent>> extents_;
  bool isMovable_ = true;
};

} // namespace melix::loops
