#pragma once
// Internal: one sweep over the axes of a nest.

#include "core/nest.h"
#include "loops/lower.h"
#include "loops/ordered_sum.h"

#include <algorithm>

namespace melix::loops {

struct Lower::NestResultState {
  core::NestPart part;
  std::vector<Place> out; ///< memory of array results, as far as they are kept axes: for each of its results
  std::vector<bool> placed; ///< the memory belongs to somebody else
  uint32_t at = 0;          ///< of its state among the carried values
  uint32_t count = 0;
  core::ValueId yielded; ///< the first of its yields
  /// Of a reduction that rounds or tells places: its reduced axes as terms follow each other.
  std::vector<uint32_t> sequence;
  std::optional<OrderedSum> ordered; ///< of a float sum or product in blocks

  bool isReduce() const { return part.spec->kind == core::NestResultKind::Reduce; }
  bool isFilter() const { return part.spec->kind == core::NestResultKind::Filter; }
  /// A reduction that is finished inside that many of the loops.
  bool endsAt(uint32_t level) const { return isReduce() && part.spec->keep.size() == level; }
  bool hasLanes() const { return ordered && ordered->hasLanes(); }
  bool isBlocked() const { return ordered && ordered->isBlocked(); }
  /// One value (a nest of no axes collects that too): it has no memory and is defined where its axes end.
  bool keepsNone() const { return !isFilter() && part.spec->keep.empty(); }
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
  std::set<const core::Op*> needed; ///< ops of the body; all when `whole`
  bool whole = true;

  /// Whether the turns of the loop at a level depend on each other only by what is carried.
  bool hasPoints(uint32_t level) const {
    auto inMemory = [&](const NestResultState& r) {
      return r.hasLanes() && r.part.spec->keep.size() <= level;
    };
    return !withAccs && std::ranges::none_of(results, inMemory);
  }

  /// So many neighbouring points of a row reach no lane of a sum twice; 0 if no sum has lanes.
  uint32_t stripWidth() const {
    uint32_t least = 0;
    for (const NestResultState& r : results)
      if (r.hasLanes() && (least == 0 || r.ordered->lanes() < least)) least = r.ordered->lanes();
    return least;
  }
};

/// How the points of the axes from a level on are cut: rows along the last axis, counted row-major over the
/// other ones.
struct Lower::Blocks {
  std::vector<uint32_t> outer;
  uint32_t inner;
  ValueId rows, row;      ///< how many rows there are; the points of one
  ValueId rowsIn, perRow; ///< whole rows in a block, blocks in a row: one of them is 1
  ValueId points;
};

/// The points first..end of each of some rows.
struct Lower::Span {
  ValueId firstRow, endRow, first, end;
};

} // namespace melix::loops
