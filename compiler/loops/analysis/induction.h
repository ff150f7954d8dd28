#pragma once
// How numbers in the body of a loop change from turn to turn; of the passes that move remainders out of it.

#include "loops/ir/ir.h"

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// The numbers of a body that are `s·i + c` with the loop's index i, all sums modulo 2^64: s is -1 or 1, c
/// the same in all turns, and for a remainder this holds up to where it wraps; or s is 0 and nothing that
/// they are computed from changes.
class Slopes {
public:
  Slopes(Function& fn, const Stmt& loop);

  std::vector<StmtId> wraps;     ///< remainders with slope -1 or 1, in order
  std::vector<StmtId> quotients; ///< quotients and remainders with slope 0, in order

  /// The slope; none if it changes in any other way.
  std::optional<int> of(ValueId v) const {
    if (auto found = slopes_.find(v); found != slopes_.end()) return found->second;
    return made_.contains(v) ? std::nullopt : std::optional(0);
  }
  /// These statements and those of the body from which they are computed, in order: no effect, no check.
  std::vector<StmtId> withOperands(std::span<const StmtId> stmts) const;

private:
  void enter(RegionId region);
  void walk(RegionId region);
  std::optional<int> slopeOf(const Stmt& s) const;
  std::optional<int> slopeOfVarying(const Stmt& s) const;
  bool isLong(ValueId divisor) const;

  Function& fn_;
  std::unordered_set<ValueId> made_; ///< in the body, and its parameters
  std::unordered_map<ValueId, int> slopes_;
  std::vector<StmtId> steps_; ///< what has a slope, in order
};

/// Puts what `inPlace` says in place of each `for` without loops inside, given the region where it stands.
/// Whether there are loops in the region.
using InPlace = std::function<std::vector<StmtId>(StmtId loop, RegionId home)>;
bool replaceInnermost(Function& fn, RegionId region, const InPlace& inPlace);

} // namespace melix::loops
