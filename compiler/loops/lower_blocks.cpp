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
                                          : sweepSpan(op, sweep, blocks, span, std::move(carried));
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

/// A loop over rows that counts the outer axes like an odometer, carried in front of the states.
std::vector<ValueId> Lower::sweepSpan(const core::Op& op, Sweep& sweep, const Blocks& blocks,
                                      const Span& span, std::vector<ValueId> carried) {
  const std::vector<uint32_t>& outer = blocks.outer;
  if (outer.empty()) return sweepRow(op, sweep, blocks, span.first, span.end, std::move(carried));
  const auto wheels = static_cast<std::ptrdiff_t>(outer.size() > 1 ? outer.size() : 0);
  std::vector<ValueId> state;
  if (wheels) state = odometerAt(sweep, outer, span.firstRow);
  state.insert(state.end(), carried.begin(), carried.end());
  state =
      b_.carryLoop(span.firstRow, span.endRow, std::move(state), [&](ValueId r, std::vector<ValueId> values) {
        std::vector<ValueId> at(values.begin(), values.begin() + wheels);
        values.erase(values.begin(), values.begin() + wheels);
        if (!wheels) sweep.axes[outer[0]] = r;
        for (size_t k = 0; k < at.size(); ++k) sweep.axes[outer[k]] = at[k];
        values = sweepRow(op, sweep, blocks, span.first, span.end, std::move(values));
        b_.loc = op.loc;
        if (wheels) turnOdometer(sweep, outer, at);
        at.insert(at.end(), values.begin(), values.end());
        return at;
      });
  state.erase(state.begin(), state.begin() + wheels);
  return state;
}

/// Where it stands at a row.
std::vector<ValueId> Lower::odometerAt(const Sweep& sweep, const std::vector<uint32_t>& axes, ValueId row) {
  std::vector<ValueId> at(axes.size());
  for (size_t k = axes.size(); k-- > 1;) {
    ValueId extent = sweep.extents[axes[k]];
    if (!b_.asConstant(extent)) extent = b_.arith(OpKind::Max, extent, b_.integer(1));
    at[k] = b_.arith(OpKind::IRem, row, extent);
    row = b_.arith(OpKind::IDiv, row, extent);
  }
  at[0] = row;
  return at;
}

/// To the next row.
void Lower::turnOdometer(const Sweep& sweep, const std::vector<uint32_t>& axes, std::vector<ValueId>& at) {
  ValueId zero = b_.integer(0), one = b_.integer(1), carry = one;
  for (size_t k = axes.size(); k-- > 1;) {
    ValueId up = b_.arith(OpKind::Add, at[k], carry);
    ValueId wraps = b_.compare(ops::CmpKind::Eq, up, sweep.extents[axes[k]]);
    at[k] = b_.select(wraps, zero, up);
    carry = b_.select(wraps, one, zero);
  }
  at[0] = b_.arith(OpKind::Add, at[0], carry);
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
