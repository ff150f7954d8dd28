#pragma once
// Emits a loop over rows for all rows. What is the same for all trip counts stands here: checks before the
// loop, what rows begin with, an iteration of some rows, reads of what the loop gives.

#include "transforms/batch/row_adds.h"
#include "transforms/batch/row_loop.h"

#include <memory>

namespace melix::transforms {

class BatchedLoop : protected RowLoop {
public:
  explicit BatchedLoop(RowLoop loop) : RowLoop(std::move(loop)) {}
  virtual ~BatchedLoop() = default;

  /// Appends the loop at `b`. Before it come nests that make the values its iterations need of a row, and
  /// all checks. The nest then reads the results of the loop. Requires: `canInterchange`.
  void leave(core::Builder& b);

protected:
  /// What an iteration gives.
  struct Iteration {
    std::vector<core::ValueId> given; ///< by columns: rows, or what each update puts in; then what is stacked
    std::optional<RowAdds> adds;      ///< of its accumulators
    std::vector<core::ValueId> stored; ///< arrays of what the adds need
  };

  /// Appends the loop around all rows, and enters what it gives.
  virtual void around(core::Builder& b) = 0;
  /// The indices, in the body of the nest, of its row in what the loop gives.
  virtual std::vector<core::ValueId> rowIndices(core::Builder& in) const = 0;
  /// What a row has stacked.
  virtual void readStack(core::Builder& in, size_t k);
  /// Called when all reads stand.
  virtual void finishReads() {}

  std::vector<core::ValueId> begun(core::Builder& b, const RowSet* set = nullptr) const;
  std::vector<core::ValueId> sumsBegun() const;
  std::vector<core::ValueId> enterParams(core::Builder& in, std::span<const core::ValueId> begun) const;
  void enterCarries(RowNest& rows, core::Builder& row, std::span<const core::ValueId> params,
                    std::span<const core::ValueId> carried, std::span<const core::ValueId> indices) const;
  Iteration endIteration(RowNest& rows, core::Builder& in, std::vector<core::ValueId>& sums) const;
  bool addsAreAlone() const;
  core::Cloner placesAt(core::Builder& in, core::ValueId index) const;
  std::vector<core::ValueId> carryOn(core::Builder& in, const core::Cloner& places, const Iteration& made,
                                     std::span<const core::ValueId> carried, const core::Path& rows,
                                     std::span<const core::ValueId> at) const;
  core::TypeId stacked(core::DimId extent, core::TypeId row) const;
  core::TypeId resized(core::TypeId array, core::DimId rows) const;
  void give(std::span<const core::ValueId> columns, std::span<const core::ValueId> sums,
            std::span<const core::ValueId> stacks);

  std::vector<core::ValueId> given_; ///< by results of the loop: what the loop around gives for them

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
