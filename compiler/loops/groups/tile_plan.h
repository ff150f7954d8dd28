#pragma once
// Finds the kernels whose points share operands of sums by rows or columns, or read an array across the order
// in which they store, and plans the tiles in which a block of threads runs them.

#include "loops/groups/point_axes.h"

#include <unordered_set>
#include <vector>

namespace melix::loops {

/// A value of a sum's terms that all points of a row, or of a column, share: the block computes it once for
/// each step of the sum, in memory of the block.
struct StagedValue {
  ValueId value;
  uint8_t axes = AxisDependence::None; ///< Row or Column
  bool isAlongSum = false;             ///< neighbours in memory are neighbours in the sum, not along the axis
};

/// Nested loops that carry sums; all others are statements of one step of the innermost, the chain.
struct TiledSum {
  std::vector<StmtId> loops; ///< outermost first; the last is the chain
  std::vector<StagedValue> staged;
  std::unordered_set<StmtId> ofPoints; ///< statements of the chain of which each point has its own
  StmtId chain() const { return loops.back(); }
};

/// A tile has `perThread` · 16 rows and as many columns, of which a thread has every 16th. The sums advance
/// by `tileSteps` terms at a time.
struct TilePlan {
  PointAxes axes;
  std::unordered_map<StmtId, TiledSum> sums; ///< by the outermost loop
  /// Loads of which neighbours lie in memory as rows do: the block makes them in that order, in memory of the
  /// block.
  std::unordered_set<StmtId> transposed;
  uint32_t perThread = 4;
  uint32_t extent() const { return perThread * side; }
  static constexpr uint32_t side = 16; ///< of the square of threads
};
inline constexpr uint32_t tileSteps = 16;
/// An axis of fewer points is worth no tile.
inline constexpr int64_t leastTiled = 32;

/// None unless there is such a sum or load, each loop of a point is a sum, and all else are numbers, loads
/// and stores.
std::optional<TilePlan> planTile(const Module& module, const Function& kernel);

} // namespace melix::loops
