#include "loops/emit/emit_blocks.h"

#include "core/order/order.h"
#include "loops/emit/ordered_sum.h"

namespace melix::loops {
namespace {

using core::OpKind;

constexpr int64_t blockShift = 13;
static_assert(int64_t(1) << blockShift == core::blockTerms);

} // namespace

BlockLoops::BlockLoops(Builder& b, const BlockPlan& plan, const std::vector<ValueId>& extents,
                       std::vector<ValueId>& axes)
    : b_(b), plan_(plan), extents_(extents), axes_(axes) {
  std::vector<ValueId> outer;
  for (uint32_t a : plan.outer) outer.push_back(extents[a]);
  rows_ = b_.product(outer);
  row_ = extents[plan.inner];
  if (plan.isOne) return;
  const ValueId one = b_.integer(1);
  rowsIn_ = plan.outer.empty() ? one : wholeRows(b_, row_);
  const uint64_t* known = b_.asConstant(row_);
  constexpr int64_t last = core::blockTerms - 1;
  perRow_ =
      known ? b_.integer((static_cast<int64_t>(*known) + last) >> blockShift)
            : b_.arith(OpKind::Shr, b_.arith(OpKind::Add, row_, b_.integer(last)), b_.integer(blockShift));
}

ValueId BlockLoops::count() {
  if (plan_.outer.empty()) return perRow_;
  const ValueId filled = b_.arith(OpKind::Add, rows_, b_.arith(OpKind::Sub, rowsIn_, b_.integer(1)));
  return b_.arith(OpKind::Mul, b_.arith(OpKind::IDiv, filled, rowsIn_), perRow_);
}

BlockLoops::Span BlockLoops::spanOf(ValueId block) {
  ValueId zero = b_.integer(0), one = b_.integer(1), size = b_.integer(core::blockTerms);
  auto piece = [&](ValueId number) {
    ValueId first = b_.arith(OpKind::Mul, number, size);
    return std::pair(first, b_.arith(OpKind::Min, row_, b_.arith(OpKind::Add, first, size)));
  };
  if (plan_.outer.empty()) {
    auto [first, end] = piece(block);
    return {zero, one, first, end};
  }
  ValueId group = block, first = zero, end = row_;
  const uint64_t* known = b_.asConstant(perRow_);
  if (!known || *known > 1) {
    ValueId some = b_.arith(OpKind::Max, perRow_, one);
    group = b_.arith(OpKind::IDiv, block, some);
    std::tie(first, end) = piece(b_.arith(OpKind::IRem, block, some));
  }
  ValueId row = b_.arith(OpKind::Mul, group, rowsIn_);
  return {row, b_.arith(OpKind::Min, rows_, b_.arith(OpKind::Add, row, rowsIn_)), first, end};
}

std::vector<ValueId> BlockLoops::sweep(const Span& span, std::vector<ValueId> carried, Point point) {
  return plan_.isOne ? sweepAll(0, std::move(carried), point) : sweepSpan(span, 0, std::move(carried), point);
}

/// All rows, by a loop for each of the outer axes.
std::vector<ValueId> BlockLoops::sweepAll(size_t level, std::vector<ValueId> carried, Point point) {
  if (level == plan_.outer.size()) return sweepRow(b_.integer(0), row_, std::move(carried), point);
  const uint32_t axis = plan_.outer[level];
  return b_.carryLoop(b_.integer(0), extents_[axis], std::move(carried),
                      [&](ValueId i, std::vector<ValueId> state) {
                        axes_[axis] = i;
                        return sweepAll(level + 1, std::move(state), point);
                      });
}

/// The rows of a span, by a loop for each of the outer axes over as much of it as the span has.
std::vector<ValueId> BlockLoops::sweepSpan(const Span& span, size_t level, std::vector<ValueId> carried,
                                           Point point) {
  if (level == plan_.outer.size()) return sweepRow(span.first, span.end, std::move(carried), point);
  const uint32_t axis = plan_.outer[level];
  std::vector<ValueId> inner;
  for (size_t k = level + 1; k < plan_.outer.size(); ++k) inner.push_back(extents_[plan_.outer[k]]);
  if (inner.empty())
    return b_.carryLoop(span.firstRow, span.endRow, std::move(carried),
                        [&](ValueId i, std::vector<ValueId> state) {
                          axes_[axis] = i;
                          return sweepSpan(span, level + 1, std::move(state), point);
                        });
  const ValueId zero = b_.integer(0), one = b_.integer(1), rows = b_.product(inner);
  const ValueId some = b_.arith(OpKind::Max, rows, one);
  const ValueId filled = b_.arith(OpKind::Add, span.endRow, b_.arith(OpKind::Sub, some, one));
  const ValueId first = b_.arith(OpKind::Max, zero, b_.arith(OpKind::IDiv, span.firstRow, some));
  const ValueId end = b_.arith(OpKind::Min, extents_[axis], b_.arith(OpKind::IDiv, filled, some));
  return b_.carryLoop(first, end, std::move(carried), [&](ValueId i, std::vector<ValueId> state) {
    axes_[axis] = i;
    const ValueId before = b_.arith(OpKind::Mul, i, rows);
    const Span part{b_.arith(OpKind::Max, zero, b_.arith(OpKind::Sub, span.firstRow, before)),
                    b_.arith(OpKind::Min, rows, b_.arith(OpKind::Sub, span.endRow, before)), span.first,
                    span.end};
    return sweepSpan(part, level + 1, std::move(state), point);
  });
}

/// The points first..end of a row.
std::vector<ValueId> BlockLoops::sweepRow(ValueId first, ValueId end, std::vector<ValueId> carried,
                                          Point point) {
  ForAttr attr;
  attr.dependence = plan_.mark;
  attr.minDistance = plan_.strip;
  return b_.carryLoop(
      first, end, std::move(carried),
      [&](ValueId k, std::vector<ValueId> state) {
        axes_[plan_.inner] = k;
        return point(std::move(state));
      },
      attr);
}

} // namespace melix::loops
