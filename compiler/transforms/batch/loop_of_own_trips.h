#pragma once
// A loop of rows with their own trip counts, in the order of falling counts: iteration t works on the first
// rows, whose counts are greater than t.
//
//   %c = nest (b: B) -> collect[b] { … the count of row b … }
//   %order = argsort %c, falling       %most = the greatest of %c, or 0
//   %h, %s = for %most, %h0, undef, 0 { (%t, %h, %s, %from)
//     %m = nest (b: B) -> sum { get %c[%b] > %t }
//     %g = nest (i: %m) -> collect[i] { %b = get %order[%i] … get %h[%i] … }
//     yield (set %h[0 +: %m] = %g), (set %s[%from +: %m] = %g), %from + %m, collected %from }
//
// Stacked rows are stored iteration by iteration: the row of the i-th row of `order` in iteration t stands at
// from[t] + i. Rows that read arrays from their end all end together: the last iteration is the last of each
// row, and the number of rows grows. Then more of the rows that they read stand side by side.

#include "transforms/batch/batched_loop.h"

namespace melix::transforms {

class LoopOfOwnTrips : public BatchedLoop {
public:
  using BatchedLoop::BatchedLoop;

private:
  struct Order;
  struct Iterated;
  void around(core::Builder& b) override;
  std::vector<core::ValueId> rowIndices(core::Builder& in) const override;
  void readStack(core::Builder& in, size_t k) override;
  void finishReads() override;

  bool endTogether() const;
  bool stacksTerms() const;
  Order orderRows(core::Builder& b) const;
  core::ValueId sizeAt(core::Builder& in, const Order& order, core::ValueId iteration) const;
  Iterated emitIteration(core::Builder& in, const Order& order, core::ValueId index,
                         std::span<const core::ValueId> carried) const;
  void placeFromEnd(core::Builder& in, core::Cloner& copy, core::ValueId left) const;
  core::ValueId rankOf(core::Builder& b, const Order& order) const;
  core::ValueId placeInStack(core::Builder& b, core::ValueId iteration) const;
  void readStacked(core::RegionId region);

  core::ValueId rank_;      ///< by position: where the row stands in the order
  core::ValueId from_;      ///< by iteration: where its stacked rows begin
  core::ValueId most_;      ///< the greatest count, where rows end together
  core::ValueId stackRank_; ///< in the body of the nest: where its row stands in the order
};

} // namespace melix::transforms
