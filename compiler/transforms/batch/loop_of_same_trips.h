#pragma once
// A loop of one trip count for all rows: each iteration is one of all rows.

#include "transforms/batch/batched_loop.h"

namespace melix::transforms {

class LoopOfSameTrips : public BatchedLoop {
public:
  using BatchedLoop::BatchedLoop;

private:
  void around(core::Builder& b) override;
  std::vector<core::ValueId> rowIndices(core::Builder& in) const override;
  void takeShared(core::Builder& b) override;
  core::Operands emitIteration(core::Builder& in, std::span<const core::ValueId> begun) const;

  core::ValueId count_;
};

} // namespace melix::transforms
