#pragma once
// Finds sweeps over rows in one region, and the arrays of rows that one of them writes and others read.

#include "loops/analysis/local_allocations.h"
#include "loops/analysis/row_reduction.h"

#include <map>

namespace melix::loops {

using ValueSet = std::unordered_set<ValueId>;

/// The memory that statements load from, and the memory that they use otherwise.
struct MemoryUse {
  ValueSet reads, writes;

  bool touches(ValueId v) const { return reads.contains(v) || writes.contains(v); }
  void add(const MemoryUse& other);
  /// Whether the order of the two statements matters.
  bool conflicts(const MemoryUse& other) const;
};
MemoryUse memoryOf(const Function& fn, const Stmt& s);

/// Nested loops of points from 0, which cannot fail, and whose only effects are on memory.
struct RowSweep {
  std::vector<StmtId> loops;    ///< outermost first, with only scalars beside them
  std::vector<size_t> axes;     ///< the loops in the order in which arrays of rows have them
  std::vector<ValueId> indices; ///< the loop indices of the axes
  RowSum sum;                   ///< at each point, if its chain is there
  MemoryUse memory;

  StmtId loop() const { return loops[0]; }
  StmtId axis(size_t k) const { return loops[axes[k]]; }
  /// Whether the first axes are the outermost loops, in any order: any order of points is allowed.
  bool areOutermost(size_t count) const;
};

/// An array that one sweep makes, and that only sweeps use: at their own rows, or summed over all rows. The
/// statements between the sweeps have no effects except on the memory of arrays.
struct RowArray {
  StmtId alloc, drop;
  ValueId array;
  std::vector<size_t> sweeps; ///< by number, in order
};

/// The row sweeps of a region, in a function in which counts are inserted.
class RowSweeps {
public:
  struct Least {
    uint64_t bytes;  ///< of an array: smaller arrays stay as they are
    uint64_t summed; ///< bytes of the rows that a sum is over
  };
  /// Sweeps with the numbers in `mayNotSum` do not sum over rows of other sweeps' arrays, but use the arrays
  /// as they are.
  RowSweeps(const Module& module, const Function& fn, const LocalBlocks& blocks, RegionId home, Least least,
            const std::unordered_set<size_t>& mayNotSum);

  const std::vector<RowSweep>& sweeps() const { return sweeps_; }
  /// The arrays of which each sweep uses its own rows, or sums over all.
  std::vector<RowArray> arrays();
  /// The number of a sweep's axes over which it accesses only its own row of an array. It loads and stores
  /// elements of that row, and does nothing else with the array.
  size_t rowAxes(const RowSweep& sweep, ValueId array) const;
  /// The number of a sweep's axes over which its sum loads elements of its own row of an array. The
  /// iterations of the sum are rows over the next axis. None if the sweep uses the array otherwise, and may
  /// not sum so.
  std::optional<size_t> summedAxis(size_t sweep, ValueId array) const;
  /// The end of a loop over an axis. `sameEnds`: whether two ends are equal, or one loop has no iterations
  /// because its inner loops have none.
  ValueId endOf(size_t sweep, size_t axis) const { return fn_.stmts[sweeps_[sweep].axis(axis)].operands[1]; }
  bool sameEnds(size_t a, size_t b, size_t axis) const;
  bool areSame(ValueId end, ValueId other) const;
  /// Whether a value is made in a statement of the region.
  bool isInside(ValueId v) const;

private:
  /// A product: the exponent of each factor, by number, and the constant part.
  using Factors = std::pair<std::map<uint32_t, int>, uint64_t>;

  bool isRows(const Stmt& s) const;
  bool isEffectFree(RegionId region) const;
  bool isOpaque(const Stmt& s) const;
  RowSweep sweepOf(StmtId loop) const;
  StmtId onlyRows(RegionId region) const;
  std::optional<RowArray> arrayOf(StmtId alloc) const;
  bool isByRows(const RowArray& array) const;
  std::unordered_set<size_t> sumsOver(const std::vector<RowArray>& arrays) const;
  bool isSmall(const Stmt& alloc, size_t axes, uint64_t bytes) const;
  bool isUsedBySweepsAlone(const RowArray& array) const;
  void orderAxes(RowSweep& sweep, const std::vector<RowArray>& arrays) const;
  std::vector<size_t> leadingAxes(const RowSweep& sweep, ValueId array) const;
  void leadingAxesIn(RegionId region, const RowSweep& sweep, ValueId array,
                     std::optional<std::vector<size_t>>& common) const;
  size_t rowAxesIn(RegionId region, const RowSweep& sweep, ValueId array, size_t most) const;
  size_t rowAxesOf(const Stmt& access, const RowSweep& sweep) const;
  bool loadsSummed(RegionId region, const RowSweep& sweep, ValueId array, std::optional<size_t>& axis) const;
  bool isAxis(const Stmt& access, size_t axis, ValueId index) const;
  Factors factorsOf(std::span<const ValueId> sizes) const;
  void addFactors(ValueId v, Factors& factors) const;
  ValueId extentOf(ValueId end) const;
  bool isZero(ValueId v) const;
  bool comparesIterations(ValueId condition) const;

  const Module& module_;
  const Function& fn_;
  const LocalBlocks& blocks_;
  const RegionId home_;
  const Least least_;
  const std::unordered_set<size_t>& mayNotSum_;
  std::vector<RowSweep> sweeps_;
  std::vector<size_t> opaqueBefore_;          ///< statements before each sweep
  std::unordered_map<ValueId, StmtId> sizes_; ///< allocs of the region, by array
};

} // namespace melix::loops
