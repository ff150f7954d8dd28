#pragma once
// How scalars in the body of a loop change from iteration to iteration. The passes that move remainders out
// of loops use it.

#include "loops/ir/ir.h"
#include "support/function_ref.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// Where slopes hold: in the whole loop, or between the points where a remainder wraps.
enum class SlopeRange : uint8_t { Loop, BetweenWraps };

/// The scalars of a body that have the form `s·i + c`, where i is the loop's index, all sums modulo 2^64:
/// (1) s is -1 or 1, and c is invariant; for a remainder, this holds up to the point where it wraps.
/// (2) s is 0, and no value that they are computed from changes. Between wraps a quotient of (1) is one too.
class Slopes {
public:
  Slopes(Function& fn, const Stmt& loop, SlopeRange range);

  std::vector<StmtId> wraps;     ///< remainders and quotients of numbers with slope -1 or 1, in order
  std::vector<StmtId> quotients; ///< quotients and remainders of numbers with slope 0, in order

  /// The slope of a value; none if the value changes in any other way.
  std::optional<int> strideOf(ValueId v) const {
    if (auto found = slopes_.find(v); found != slopes_.end()) return found->second;
    return made_.contains(v) ? std::nullopt : std::optional(0);
  }
  /// These statements and the statements of the body that compute their operands, in order. None has an
  /// effect or a check.
  std::vector<StmtId> withOperands(std::span<const StmtId> stmts) const;

private:
  void enter(RegionId region);
  void walk(RegionId region);
  std::optional<int> slopeOf(const Stmt& s) const;
  std::optional<int> slopeOfVarying(const Stmt& s) const;
  bool isInvariant(const Stmt& s) const;
  bool isLong(ValueId divisor) const;
  bool isShift(ValueId divisor) const;

  Function& fn_;
  const SlopeRange range_;
  std::unordered_set<ValueId> made_; ///< values defined in the body, and its parameters
  std::unordered_map<ValueId, int> slopes_;
  std::vector<StmtId> steps_; ///< statements whose result has a slope, in order
};

/// Replaces each `for` that contains no loop by the statements that `inPlace` returns, given the region where
/// the loop stands. Returns whether the region contains loops.
using InPlace = FunctionRef<std::vector<StmtId>(StmtId loop, RegionId home)>;
bool replaceInnermost(Function& fn, RegionId region, InPlace inPlace);

} // namespace melix::loops
