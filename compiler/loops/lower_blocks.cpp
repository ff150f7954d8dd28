// Sweeps in blocks, as core/order.h defines them: inside a block there is nothing but the terms, and what the
// blocks give is combined in order.
#include "core/order.h"
#include "loops/lower_nest.h"

namespace melix::loops {
namespace {

constexpr int64_t blockShift = 13;
static_assert(int64_t(1) << blockShift == core::blockTerms);

} // namespace

/// Whether the axes from `level` on can be swept as one sequence of points: something ends here that blocks
/// are defined for, and nothing ends further in.
bool Lower::runsInBlocks(const Sweep& sweep, uint32_t level) {
  if (level == sweep.order.size()) return false;
  bool wanted = false;
  for (const NestResultState& r : sweep.results) {
    if (!r.isReduce()) continue;
    if (r.part.spec->keep.size() > level) return false;
    wanted = wanted || (r.endsAt(level) && r.ordered);
  }
  return wanted;
}

Lower::Blocks Lower::blocksFrom(const Sweep& sweep, uint32_t level) {
  Blocks out;
  out.outer.assign(sweep.order.begin() + level, sweep.order.end() - 1);
  out.inner = sweep.order.back();
  std::vector<ValueId> extents;
  for (uint32_t a : out.outer) extents.push_back(sweep.extents[a]);
  out.rows = b_.product(extents);
  out.row = sweep.extents[out.inner];
  extents.push_back(out.row);
  out.points = b_.product(extents);
  if (isOneBlock(b_, out.points)) return out;
  ValueId one = b_.integer(1);
  out.rowsIn = out.outer.empty() ? one : wholeRows(b_, out.row);
  const uint64_t* known = b_.asConstant(out.row);
  constexpr int64_t last = core::blockTerms - 1;
  out.perRow =
      known ? b_.integer((static_cast<int64_t>(*known) + last) >> blockShift)
            : b_.arith(OpKind::Shr, b_.arith(OpKind::Add, out.row, b_.integer(last)), b_.integer(blockShift));
  return out;
}

ValueId Lower::blockCount(const Blocks& blocks) {
  if (blocks.outer.empty()) return blocks.perRow;
  ValueId filled = b_.arith(OpKind::Add, blocks.rows, b_.arith(OpKind::Sub, blocks.rowsIn, b_.integer(1)));
  return b_.arith(OpKind::Mul, b_.arith(OpKind::IDiv, filled, blocks.rowsIn), blocks.perRow);
}

Lower::Span Lower::spanOf(const Blocks& blocks, ValueId block) {
  ValueId zero = b_.integer(0), one = b_.integer(1), size = b_.integer(core::blockTerms);
  auto piece = [&](ValueId number) {
    ValueId first = b_.arith(OpKind::Mul, number, size);
    return std::pair(first, b_.arith(OpKind::Min, blocks.row, b_.arith(OpKind::Add, first, size)));
  };
  if (blocks.outer.empty()) {
    auto [first, end] = piece(block);
    return {zero, one, first, end};
  }
  ValueId group = block, first = zero, end = blocks.row;
  const uint64_t* known = b_.asConstant(blocks.perRow);
  if (!known || *known > 1) {
    ValueId some = b_.arith(OpKind::Max, blocks.perRow, one);
    group = b_.arith(OpKind::IDiv, block, some);
    std::tie(first, end) = piece(b_.arith(OpKind::IRem, block, some));
  }
  ValueId row = b_.arith(OpKind::Mul, group, blocks.rowsIn);
  return {row, b_.arith(OpKind::Min, blocks.rows, b_.arith(OpKind::Add, row, blocks.rowsIn)), first, end};
}

/// One block: the states that come in but for blocked results, which begin anew.
std::vector<ValueId> Lower::sweepBlock(const core::Op& op, Sweep& sweep, const Blocks& blocks,
                                       const Span& span, std::vector<ValueId> carried) {
  for (const NestResultState& r : sweep.results)
    if (r.isBlocked()) carried[r.at] = r.ordered->beginBlock();
  carried = isOneBlock(b_, blocks.points) ? sweepAll(op, sweep, blocks, 0, std::move(carried))
                                          : sweepSpan(op, sweep, blocks, span, 0, std::move(carried));
  if (context_.error) return carried;
  b_.loc = op.loc;
  for (const NestResultState& r : sweep.results)
    if (r.isBlocked()) carried[r.at] = r.ordered->endBlock(carried[r.at]);
  return carried;
}

/// All blocks one after another.
std::vector<ValueId> Lower::sweepBlocks(const core::Op& op, Sweep& sweep, const Blocks& blocks,
                                        std::vector<ValueId> carried) {
  for (NestResultState& r : sweep.results)
    if (r.isBlocked()) r.ordered->openLanes();
  if (isOneBlock(b_, blocks.points)) return sweepBlock(op, sweep, blocks, {}, std::move(carried));
  return b_.carryLoop(b_.integer(0), blockCount(blocks), carried,
                      [&](ValueId b, std::vector<ValueId> totals) {
                        std::vector<ValueId> next = sweepBlock(op, sweep, blocks, spanOf(blocks, b), totals);
                        for (const NestResultState& r : sweep.results)
                          if (r.isBlocked() && !context_.error)
                            next[r.at] = r.ordered->joinBlock(totals[r.at], next[r.at]);
                        return next;
                      });
}

/// All rows, by a loop for each of the outer axes.
std::vector<ValueId> Lower::sweepAll(const core::Op& op, Sweep& sweep, const Blocks& blocks, size_t level,
                                     std::vector<ValueId> carried) {
  if (level == blocks.outer.size())
    return sweepRow(op, sweep, blocks, b_.integer(0), blocks.row, std::move(carried));
  uint32_t axis = blocks.outer[level];
  return b_.carryLoop(b_.integer(0), sweep.extents[axis], std::move(carried),
                      [&](ValueId i, std::vector<ValueId> state) {
                        sweep.axes[axis] = i;
                        return sweepAll(op, sweep, blocks, level + 1, std::move(state));
                      });
}

/// The rows of a span, by a loop for each of the outer axes over as much of it as the span has.
std::vector<ValueId> Lower::sweepSpan(const core::Op& op, Sweep& sweep, const Blocks& blocks,
                                      const Span& span, size_t level, std::vector<ValueId> carried) {
  if (level == blocks.outer.size())
    return sweepRow(op, sweep, blocks, span.first, span.end, std::move(carried));
  const uint32_t axis = blocks.outer[level];
  std::vector<ValueId> inner;
  for (size_t k = level + 1; k < blocks.outer.size(); ++k) inner.push_back(sweep.extents[blocks.outer[k]]);
  if (inner.empty())
    return b_.carryLoop(span.firstRow, span.endRow, std::move(carried),
                        [&](ValueId i, std::vector<ValueId> state) {
                          sweep.axes[axis] = i;
                          return sweepSpan(op, sweep, blocks, span, level + 1, std::move(state));
                        });
  const ValueId zero = b_.integer(0), one = b_.integer(1), rows = b_.product(inner);
  const ValueId some = b_.arith(OpKind::Max, rows, one);
  const ValueId filled = b_.arith(OpKind::Add, span.endRow, b_.arith(OpKind::Sub, some, one));
  const ValueId first = b_.arith(OpKind::Max, zero, b_.arith(OpKind::IDiv, span.firstRow, some));
  const ValueId end = b_.arith(OpKind::Min, sweep.extents[axis], b_.arith(OpKind::IDiv, filled, some));
  return b_.carryLoop(first, end, std::move(carried), [&](ValueId i, std::vector<ValueId> state) {
    sweep.axes[axis] = i;
    const ValueId before = b_.arith(OpKind::Mul, i, rows);
    const Span part{b_.arith(OpKind::Max, zero, b_.arith(OpKind::Sub, span.firstRow, before)),
                    b_.arith(OpKind::Min, rows, b_.arith(OpKind::Sub, span.endRow, before)), span.first,
                    span.end};
    return sweepSpan(op, sweep, blocks, part, level + 1, std::move(state));
  });
}

/// The points first..end of a row. Neighbours reach no lane of a sum twice.
std::vector<ValueId> Lower::sweepRow(const core::Op& op, Sweep& sweep, const Blocks& blocks, ValueId first,
                                     ValueId end, std::vector<ValueId> carried) {
  ForAttr points;
  if (!sweep.withAccs) {
    const uint32_t width = sweep.stripWidth();
    const uint64_t* known = b_.asConstant(blocks.row);
    points.mark = MarkKind::Points;
    points.strip = known && *known <= width ? 0 : width;
  }
  return b_.carryLoop(
      first, end, std::move(carried),
      [&](ValueId k, std::vector<ValueId> state) {
        sweep.axes[blocks.inner] = k;
        return sweepLevel(op, sweep, static_cast<uint32_t>(sweep.order.size()), std::move(state));
      },
      points);
}

} // namespace melix::loops
