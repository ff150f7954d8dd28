#pragma once
// Emits a loop of rows for all rows: checks before it, arrays with which rows begin, an iteration of some
// rows, reads of its results. Subclasses emit the loop itself, each for one kind of trip counts.

#include "transforms/batch/row_adds.h"
#include "transforms/batch/row_loop.h"

#include <memory>

namespace melix::transforms {

class BatchedLoop : protected RowLoop {
public:
  explicit BatchedLoop(RowLoop loop) : RowLoop(std::move(loop)) {}
  virtual ~BatchedLoop() = default;

  /// Appends the loop at `b`. Before it come nests that make the values its iterations need of a row, and
  /// all checks. The nest then reads the results of the loop. Requires: no `refusal`.
  void leave(core::Builder& b);

protected:
  /// The values of an iteration.
  struct Iteration {
    std::vector<core::ValueId> given; ///< by columns: rows, or the values of updates; then the stacked values
    std::optional<RowAdds> adds;      ///< of its accumulators
    std::vector<core::ValueId> stored; ///< arrays of the values that the adds need
  };

  /// Computes the values for the loop around that are the same for all rows: once others are stored by row, a
  /// copy of their ops may read the row's.
  virtual void takeShared(core::Builder&) {}
  /// Appends the loop around all rows, and enters its results in `given_`.
  virtual void around(core::Builder& b) = 0;
  /// The indices, in the body of the nest, of its row in the results of the loop around.
  virtual std::vector<core::ValueId> rowIndices(core::Builder& in) const = 0;
  /// Reads an array that a row has stacked: result `k` of the loop.
  virtual void readStack(core::Builder& in, size_t k);
  /// Called when all reads stand.
  virtual void finishReads() {}

  std::vector<core::ValueId> begun(core::Builder& b, const RowSet* set = nullptr) const;
  std::vector<core::ValueId> sumsBegun() const;
  std::vector<core::ValueId> enterParams(core::Builder& in, std::span<const core::ValueId> begun) const;
  void enterCarries(RowNest& rows, core::Builder& row, std::span<const core::ValueId> params,
                    std::span<const core::ValueId> carried, std::span<const core::ValueId> indices) const;
  /// `left`: the region that the adds are to leave, if any.
  Iteration endIteration(RowNest& rows, core::Builder& in, std::vector<core::ValueId>& sums,
                         core::RegionId left = {}) const;
  bool addsAreAlone() const;
  core::Cloner placesAt(core::Builder& in, core::ValueId index) const;
  std::vector<core::ValueId> carryOn(core::Builder& in, const core::Cloner& places, const Iteration& made,
                                     std::span<const core::ValueId> carried, const core::Path& rows,
                                     std::span<const core::ValueId> at) const;
  core::TypeId stacked(core::DimId extent, core::TypeId row) const;
  core::TypeId resized(core::TypeId array, core::DimId rows) const;
  void give(std::span<const core::ValueId> columns, std::span<const core::ValueId> sums,
            std::span<const core::ValueId> stacks);

  std::vector<core::ValueId> given_; ///< by results of the loop: arrays of all rows, sums

private:
  void checkBefore(core::Builder& b);
  void checkIterations(core::Builder& row, core::Cloner& copy, const AxisVariance& iterations,
                       const std::vector<core::ValueId>& tested) const;
  void readBy(core::Builder& b);
  void readCarry(core::Builder& in, size_t k) const;
};

/// The one for the trip counts of the loop.
std::unique_ptr<BatchedLoop> batchedLoop(RowLoop loop);

} // namespace melix::transforms
