#pragma once
// The backward slice of a loop's checks, and whether it can be computed before the loop runs.

#include "loops/ir/ir.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// The statements that compute the operands of checks of one loop.
struct Slice {
  std::unordered_set<StmtId> checks;
  std::unordered_set<StmtId> around; ///< loops and branches with checks inside
  std::unordered_set<StmtId> needed; ///< give the values that these use
};

class CheckSlice {
public:
  struct Check {
    StmtId stmt;
    std::vector<StmtId> around;          ///< loops and branches, from the outermost: the loop itself
    std::unordered_set<ValueId> indices; ///< indices that the condition or its execution varies with
    unsigned pass = 1;                   ///< its reads are valid once all checks of lower passes hold
  };

  CheckSlice(const Module& module, const Function& fn, StmtId loop);

  /// Whether all checks can be tested before the loop, and at least one exists.
  bool isComputable() const { return computable_ && !checks_.empty(); }
  const std::vector<Check>& checks() const { return checks_; }
  /// Finds the pass of each check except the checks of pass 0, which are tested first; false if too many are
  /// needed.
  bool findPasses(std::span<const size_t> first);
  /// Whether the passes cost little compared to the loop.
  bool isCheap() const;
  /// The slice of the checks with these numbers: with the operands of their messages, or with the conditions
  /// alone.
  Slice sliceOf(std::span<const size_t> numbers, bool messages) const;

  bool isInside(ValueId v) const { return parents_.contains(fn_.values[v].region); }
  /// The `for` of which the value is the index, if it is one.
  StmtId loopOf(ValueId index) const;

private:
  using Stmts = std::unordered_set<StmtId>;

  double walk(RegionId region);
  void noteWrites(const Stmt& s);
  bool isEffectFree(const Stmt& s) const;
  ValueId rootOf(ValueId v) const;
  bool isUnwritten(ValueId base) const;
  bool add(ValueId v, Stmts& needed, std::unordered_set<ValueId>& indices) const;
  bool addAll(std::span<const ValueId> values, Stmts& needed, std::unordered_set<ValueId>& indices) const;
  bool addCheck(const Check& check, bool messages, Stmts& needed, std::unordered_set<ValueId>& indices) const;
  bool isSideBySide(const Stmts& needed, const Check& check) const;
  std::unordered_set<ValueId> atomsOf(std::span<const ValueId> values) const;

  const Module& module_;
  const Function& fn_;
  std::unordered_map<RegionId, StmtId> parents_; ///< the statements of the loop's regions
  std::unordered_map<StmtId, size_t> places_;    ///< positions in the order of the text
  std::vector<StmtId> around_;                   ///< while walking
  std::vector<Check> checks_;
  std::unordered_set<ValueId> written_; ///< where blocks that are written come from
  bool writesAnything_ = false;         ///< it is not known to where
  bool computable_ = true;
  double work_ = 0; ///< the work of one iteration of the loop
};

} // namespace melix::loops
