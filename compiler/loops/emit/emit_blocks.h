#pragma once
// Emits the loops over the points of blocks, as core/order/order.h cuts a sweep into them. A block contains
// only its points.

#include "loops/ir/build.h"
#include "loops/plan/plan_nest.h"
#include "support/function_ref.h"

namespace melix::loops {

class BlockLoops {
public:
  /// The points first..end of each of some rows.
  struct Span {
    ValueId firstRow, endRow, first, end;
  };
  /// Returns the carried values after a point; its indices are in `axes`.
  using Point = FunctionRef<std::vector<ValueId>(std::vector<ValueId> carried)>;

  /// `extents` and `axes`, the current indices, are by axis; both stay at their address.
  BlockLoops(Builder& b, const BlockPlan& plan, const std::vector<ValueId>& extents,
             std::vector<ValueId>& axes);

  bool isOne() const { return plan_.isOne; }
  /// The number of blocks, and the points of one; if all points are one block, `sweep` needs no span.
  ValueId count();
  Span spanOf(ValueId block);
  /// The points of a block.
  std::vector<ValueId> sweep(const Span& span, std::vector<ValueId> carried, Point point);

private:
  std::vector<ValueId> sweepAll(size_t level, std::vector<ValueId> carried, Point point);
  std::vector<ValueId> sweepSpan(const Span& span, size_t level, std::vector<ValueId> carried, Point point);
  std::vector<ValueId> sweepRow(ValueId first, ValueId end, std::vector<ValueId> carried, Point point);

  Builder& b_;
  const BlockPlan& plan_;
  const std::vector<ValueId>& extents_;
  std::vector<ValueId>& axes_;
  ValueId rows_, row_;      ///< how many rows there are; the points of one
  ValueId rowsIn_, perRow_; ///< whole rows in a block, blocks in a row: one of them is 1
};

} // namespace melix::loops
