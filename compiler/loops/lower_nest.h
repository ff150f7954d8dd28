#pragma once
// Internal: one sweep over the axes of a nest.

#include "loops/lower.h"

namespace melix::loops {

struct Lower::NestResultState {
  const core::NestResult* result;
  uint32_t firstYield;  ///< among the operands of the body's yield
  uint32_t firstResult; ///< among the op's results
  uint32_t firstUnit;   ///< among the op's operands, of a combining result
  uint32_t resultCount;
  std::vector<Place> out; ///< memory of array results, as far as they are kept axes: for each of its results
  std::vector<bool> placed; ///< the memory belongs to somebody else
  uint32_t at = 0;          ///< of its state among the carried values
  uint32_t count = 0;
  bool blocked = false;    ///< the loops themselves cut its terms into blocks (lower_blocks.cpp)
  ValueId scratch, points; ///< of a blocked one: its lanes; how many terms there are
  core::ValueId yielded;   ///< the first of its yields

  bool isReduce() const { return result->kind == core::NestResultKind::Reduce; }
  bool isFilter() const { return result->kind == core::NestResultKind::Filter; }
  /// A reduction that is finished inside that many of the loops.
  bool endsAt(uint32_t level) const { return isReduce() && result->keep.size() == level; }
  /// One value (a nest of no axes collects that too): it has no memory and is defined where its axes end.
  bool keepsNone() const { return !isFilter() && result->keep.empty(); }
};

/// Results that one order of the axes can serve: their kept axes are nested sets, so each reduction is
/// finished in registers at the level where its kept axes end.
struct Lower::Sweep {
  std::vector<NestResultState> results;
  bool withAccs = false;
  std::vector<ValueId> accs;        ///< leaves of the accumulators
  std::vector<uint32_t> order;      ///< axes from the outermost
  std::vector<ValueId> extents;     ///< by axis
  std::vector<ValueId> axes;        ///< by axis: the loop variables
  ValueId point;                    ///< in blocks: the number of the point at hand
  std::set<const core::Op*> needed; ///< ops of the body; all when `whole`
  bool whole = true;
};

} // namespace melix::loops
