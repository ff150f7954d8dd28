#pragma once
// Finds groups of sweeps in one region that can be fused by strips of rows (fuse_by_strips.h), and the
// statements that have to move for that.

#include "loops/strip_mining/sweep_analysis.h"

namespace melix::loops {

/// Sweeps over the same rows, and sums over these, fused over `axes` axes; the last of these axes runs in
/// strips.
struct StripGroup {
  std::vector<const RowArray*> arrays; ///< that connect them: no other sweep uses these
  std::vector<size_t> sweeps;          ///< by number, in order
  std::vector<size_t> sums;            ///< the sweeps that sum over the rows at each of their own points
  size_t axes = 0;

  bool contains(size_t sweep) const { return std::ranges::find(sweeps, sweep) != sweeps.end(); }
  bool isSum(size_t sweep) const { return std::ranges::find(sums, sweep) != sums.end(); }
};

/// The groups that arrays of rows connect. If not all of these may be fused, an array joins a group as long
/// as the group may. Groups that may not be fused with their sums are found without them: these sums are
/// added to `mayNotSum`, and the caller has to call again.
std::vector<StripGroup> stripGroups(const Function& fn, const RowSweeps& rows, RegionId home,
                                    const std::vector<RowArray>& arrays,
                                    std::unordered_set<size_t>& mayNotSum);

/// The statements between the sweeps that have to move after all of them, if the sweeps run where the last
/// one stands. These use an earlier sweep of the group, or such a statement.
class LateStatements {
public:
  LateStatements(const Function& fn, const RowSweeps& rows, const StripGroup& group, RegionId home);

  /// Whether no sweep needs one of these statements.
  bool mayJoin() const { return mayJoin_; }
  bool contains(StmtId id) const { return stmts_.contains(id); }

private:
  bool usesLate(const Function& fn, const Stmt& s) const;

  std::unordered_set<StmtId> stmts_;
  MemoryUse late_;
  ValueSet made_;
  bool mayJoin_ = false, checks_ = false;
};

} // namespace melix::loops
