#pragma once
// The conditions under which a branch is taken, as a list of conjuncts, and the iterations at which they
// hold.

#include "loops/analysis/linear_form.h"
#include "loops/ir/build.h"
#include "support/function_ref.h"

namespace melix::loops {

/// The conjuncts of a condition: it holds if and only if all of them hold.
std::vector<ValueId> conjuncts(const Function& fn, ValueId condition);

/// Removes conjuncts that always hold from the condition of a branch, which stands in `home`.
void dropProvenConjuncts(Function& fn, StmtId branch, RegionId home, FunctionRef<bool(ValueId)> holds);

/// Emits a test that a number is that small.
ValueId emitFitsWithoutOverflow(Builder& b, ValueId v);

/// Computes the rows, from `first` to `end`, at which conditions hold at all iterations of the inner loops.
/// They also hold at all iterations of one enclosing loop, if the caller gives one. The conditions depend on
/// nothing else that varies there.
class MaskRange {
public:
  /// Statements are emitted at the builder's position; `index` counts the rows in `loop`.
  MaskRange(Builder& b, StmtId loop, StmtId around = {});
  /// Assumes that a number defined outside is so small that sums with it do not wrap.
  void assumeSmall(ValueId v) { small_.push_back(v); }

  /// Whether a condition bounds the rows from one side. If so, the rows are restricted to those at which it
  /// holds, or, with `holds` false, to those at which it does not.
  bool take(ValueId condition, bool holds = true);
  /// Whether the condition taken last is a lower bound.
  bool isLeast() const { return bounds_.back().isLeast; }
  /// The minimum of a number at a row `at`, over all iterations of the inner loops.
  std::optional<ValueId> leastAt(ValueId v, ValueId at);
  struct Rows {
    ValueId first, end; ///< within the loop, and the first no further than the end
  };
  /// The rows; an empty range if sums in the conditions might wrap.
  Rows rows();
  /// Whether it is unknown at compile time if sums in the conditions wrap.
  bool mayWrap() const { return isExact_.valid(); }
  /// The test that they do not wrap, if that is unknown at compile time; otherwise none. Call after `rows`.
  ValueId isExact() const { return isExact_; }

private:
  struct Bound {
    ValueId row;
    bool isLeast; ///< or the greatest
  };
  ValueId row() const { return fn_.regions[fn_.stmts[loop_].regions[0]].params[0]; }
  std::optional<LinearForm> formOf(ValueId v) const;
  bool canCompare(const LinearForm& a, const LinearForm& b) const;
  bool isWithin(ValueId v) const;
  std::optional<StmtId> loopOf(ValueId index) const;
  std::optional<ValueId> fromOutside(ValueId v);
  bool isNatural(ValueId v, int depth) const;
  bool isBlock(ValueId count, ValueId length, int depth) const;
  std::optional<ValueId> endOf(StmtId loop, bool last);
  std::optional<ValueId> extreme(const LinearForm& form, bool greatest);
  void requireSmall(ValueId v);

  Builder& b_;
  Function& fn_;
  StmtId loop_, around_;
  std::unordered_set<RegionId> inside_;
  std::vector<Bound> bounds_;
  std::vector<ValueId> small_;
  ValueId isExact_;
};

} // namespace melix::loops
