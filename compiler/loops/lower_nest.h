#pragma once
// Internal: one sweep over the axes of a nest.

#include "loops/lower.h"

namespace melix::loops {

struct Lower::NestResultState {
  const core::NestResult* result = nullptr;
  uint32_t firstYield = 0;  ///< among the operands of the body's yield
  uint32_t firstResult = 0; ///< among the op's results
  uint32_t firstUnit = 0;   ///< among the op's operands, of a combining result
  uint32_t resultCount = 0;
  std::vector<Place> out; ///< memory of array results, as far as they are kept axes: for each of its results
  std::vector<bool> placed; ///< the memory belongs to somebody else
  uint32_t at = 0;          ///< of its state among the carried values
  uint32_t count = 0;
  core::ValueId yielded; ///< the first of its yields
  /// Of a reduction that rounds or tells places: its reduced axes as terms follow each other.
  std::vector<uint32_t> sequence;
  bool ordered = false;  ///< a float sum or product in blocks (core/order.h)
  bool blocked = false;  ///< the loops themselves cut its terms into blocks (lower_blocks.cpp)
  ValueId points;        ///< of an ordered one: how many terms there are
  ValueId row;           ///< of an ordered one: how many of them are a row
  ValueId scratch, held; ///< of lanes: where they are, and how many there have to be

  bool isReduce() const { return result->kind == core::NestResultKind::Reduce; }
  bool isFilter() const { return result->kind == core::NestResultKind::Filter; }
  /// A reduction that is finished inside that many of the loops.
  bool endsAt(uint32_t level) const { return isReduce() && result->keep.size() == level; }
  bool hasLanes() const { return ordered && result->order == core::OrderKind::Lanes; }
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
  std::set<const core::Op*> needed; ///< ops of the body; all when `whole`
  bool whole = true;
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
