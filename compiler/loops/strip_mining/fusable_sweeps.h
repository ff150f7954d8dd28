#pragma once
// Sweeps of one region that become one by strips of rows (fuse_by_strips.h), and what has to move for that.

#include "loops/strip_mining/sweep_analysis.h"

namespace melix::loops {

/// Sweeps over the same rows, and sums over these, over so many axes: the last of them in strips.
struct StripGroup {
  std::vector<size_t> sweeps; ///< by number, in order
  std::vector<size_t> sums;   ///< those of them that sum over the rows at each of their own points
  size_t axes = 0;

  bool isSum(size_t sweep) const { return std::ranges::find(sums, sweep) != sums.end(); }
};

/// The groups that arrays of rows tie to each other. Those that may not be joined with their sums are found
/// without them: these are added to `mayNotSum`, and the groups are to be asked for again.
std::vector<StripGroup> stripGroups(const Function& fn, const RowSweeps& rows,
                                    const std::vector<RowArray>& arrays,
                                    std::unordered_set<size_t>& mayNotSum);

/// What stands between sweeps and has to come behind all of them, if they run where the last one stands: what
/// needs one that stands in front of it, and what needs that.
class LateStatements {
public:
  LateStatements(const Function& fn, const RowSweeps& rows, const StripGroup& group, RegionId home);

  /// Whether the sweeps need none of these.
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
