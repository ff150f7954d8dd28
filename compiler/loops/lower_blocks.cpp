// Sweeps in blocks. The points of the axes that are left, in row-major order, are cut into blocks of 8,192
// (the order of float reductions, core/order.h): inside a block there is nothing but the terms, and what the
// blocks give is combined in order. The blocks of an outermost sweep run on the pool, which changes no bit.
#include "loops/lower_nest.h"

#include <algorithm>

namespace melix::loops {
namespace {

using core::MonoidKind;

constexpr int64_t blockShift = 13;
constexpr int64_t blockPoints = int64_t(1) << blockShift;
constexpr int64_t windowShift = 10; ///< of blocks whose results are kept
constexpr int64_t windowBlocks = int64_t(1) << windowShift;

bool isArg(MonoidKind monoid) { return monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax; }

} // namespace

/// Whether one block is known to be all there is.
bool Lower::isOneBlock(ValueId points) const {
  const uint64_t* known = b_.asConstant(points);
  return known && *known <= static_cast<uint64_t>(blockPoints);
}

/// Whether the axes from `level` on can be swept as one sequence of points: something ends here that blocks
/// are defined for, and nothing ends further in.
bool Lower::runsInBlocks(const core::Op& op, const Sweep& sweep, uint32_t level) {
  if (level == sweep.order.size()) return false;
  bool wanted = false;
  for (const NestResultState& r : sweep.results) {
    if (!r.isReduce()) continue;
    if (r.result->keep.size() > level) return false;
    wanted = wanted || (r.result->keep.size() == level && isOrdered(op, r));
  }
  return wanted;
}

/// Whether the blocks of a whole sweep may run in any order: each leaves some scalars behind, and combining
/// those gives the same as going on from block to block.
bool Lower::runsOnPool(const core::Op& op, const Sweep& sweep) {
  if (nestDepth_ != 0 || sweep.withAccs || sweep.order.empty()) return false;
  bool leaves = false;
  for (const NestResultState& r : sweep.results) {
    if (r.result->kind == core::NestResultKind::Collect) continue;
    leaves = true;
    if (r.isFilter()) {
      if (layouts_.stored(r.out[0].type).counted) return false;
      continue;
    }
    TypeId type = typeOf(yieldOf(op.regions[0]).operands[r.firstYield]);
    MonoidKind monoid = r.result->monoid;
    if (!r.result->keep.empty() || monoid == MonoidKind::Combine || !types_.isScalar(type)) return false;
    bool rounds = types_.isFloat(type) && (monoid == MonoidKind::Sum || monoid == MonoidKind::Prod);
    if (rounds && !isOrdered(op, r)) return false;
  }
  return leaves && !isOneBlock(product(sweep.extents));
}

void Lower::openLanes(Sweep& sweep) {
  for (NestResultState& r : sweep.results) {
    if (!r.blocked || r.result->order != core::OrderKind::Lanes) continue;
    r.scratch = lanes(r, types_.kind(typeOf(r.yielded)));
  }
}

/// One block of points: the states that come in but for blocked results, which begin anew.
std::vector<ValueId> Lower::sweepBlock(const core::Op& op, Sweep& sweep, uint32_t level, ValueId begin,
                                       ValueId end, std::vector<ValueId> carried) {
  for (const NestResultState& r : sweep.results)
    if (r.blocked) carried[r.at] = monoidUnit(r.result->monoid, types_.kind(typeOf(r.yielded)));
  carried = sweepSpan(op, sweep, level, begin, end, std::move(carried));
  if (context_.error) return carried;
  b_.loc = op.loc;
  for (const NestResultState& r : sweep.results)
    if (r.blocked && r.result->order == core::OrderKind::Lanes)
      carried[r.at] = foldLanes(r, r.scratch, types_.kind(typeOf(r.yielded)));
  return carried;
}

/// All blocks one after another.
std::vector<ValueId> Lower::sweepBlocks(const core::Op& op, Sweep& sweep, uint32_t level, ValueId points,
                                        std::vector<ValueId> carried) {
  openLanes(sweep);
  if (isOneBlock(points)) return sweepBlock(op, sweep, level, b_.integer(0), points, std::move(carried));
  return carryLoop(b_.integer(0), blockCount(points), carried, [&](ValueId b, std::vector<ValueId> totals) {
    auto [begin, end] = blockBounds(b, points);
    std::vector<ValueId> next = sweepBlock(op, sweep, level, begin, end, totals);
    for (const NestResultState& r : sweep.results)
      if (r.blocked && !context_.error)
        next[r.at] = combine(r.result->monoid, totals[r.at], next[r.at], types_.kind(typeOf(r.yielded)));
    return next;
  });
}

ValueId Lower::blockCount(ValueId points) {
  ValueId one = b_.integer(1);
  return b_.arith(OpKind::Add,
                  b_.arith(OpKind::Shr, b_.arith(OpKind::Sub, points, one), b_.integer(blockShift)), one);
}

ValueId Lower::windowCount(ValueId blocks) {
  ValueId filled = b_.arith(OpKind::Add, blocks, b_.integer(windowBlocks - 1));
  return b_.arith(OpKind::Shr, filled, b_.integer(windowShift));
}

std::pair<ValueId, ValueId> Lower::blockBounds(ValueId block, ValueId points) {
  ValueId size = b_.integer(blockPoints);
  ValueId begin = b_.arith(OpKind::Mul, block, size);
  return {begin, b_.arith(OpKind::Min, points, b_.arith(OpKind::Add, begin, size))};
}

/// The points begin..end of the axes from `level` on: a loop over the innermost axis, and around it one over
/// rows that counts the other axes like an odometer.
std::vector<ValueId> Lower::sweepSpan(const core::Op& op, Sweep& sweep, uint32_t level, ValueId begin,
                                      ValueId end, std::vector<ValueId> carried) {
  std::vector<uint32_t> rows(sweep.order.begin() + level, sweep.order.end());
  uint32_t inner = rows.back();
  rows.pop_back();
  auto depth = static_cast<uint32_t>(sweep.order.size());
  auto row = [&](ValueId from, ValueId to, ValueId before, std::vector<ValueId> values) {
    return carryLoop(from, to, std::move(values), [&](ValueId k, std::vector<ValueId> state) {
      sweep.axes[inner] = k;
      sweep.point = before ? b_.arith(OpKind::Add, before, k) : k;
      return sweepLevel(op, sweep, depth, std::move(state));
    });
  };
  if (rows.empty()) return row(begin, end, ValueId(), std::move(carried));

  ValueId zero = b_.integer(0), one = b_.integer(1), length = sweep.extents[inner];
  auto atLeastOne = [&](ValueId extent) {
    return b_.asConstant(extent) ? extent : b_.arith(OpKind::Max, extent, one);
  };
  ValueId safe = atLeastOne(length);
  ValueId first = b_.arith(OpKind::IDiv, begin, safe);
  ValueId last = b_.arith(OpKind::IDiv, b_.arith(OpKind::Sub, b_.arith(OpKind::Add, end, safe), one), safe);
  // Where the odometer stands at first, in front of what is carried.
  std::vector<ValueId> state(rows.size());
  ValueId rest = first;
  for (size_t k = rows.size(); k-- > 0;) {
    ValueId extent = atLeastOne(sweep.extents[rows[k]]);
    state[k] = k ? b_.arith(OpKind::IRem, rest, extent) : rest;
    if (k) rest = b_.arith(OpKind::IDiv, rest, extent);
  }
  state.insert(state.end(), carried.begin(), carried.end());
  state = carryLoop(first, last, std::move(state), [&](ValueId r, std::vector<ValueId> values) {
    std::vector<ValueId> at(values.begin(), values.begin() + static_cast<long>(rows.size()));
    values.erase(values.begin(), values.begin() + static_cast<long>(rows.size()));
    for (size_t k = 0; k < rows.size(); ++k) sweep.axes[rows[k]] = at[k];
    ValueId before = b_.arith(OpKind::Mul, r, length);
    ValueId from = b_.arith(OpKind::Max, zero, b_.arith(OpKind::Sub, begin, before));
    ValueId to = b_.arith(OpKind::Min, length, b_.arith(OpKind::Sub, end, before));
    values = row(from, to, before, std::move(values));
    b_.loc = op.loc;
    ValueId carry = one;
    for (size_t k = rows.size(); k-- > 0;) {
      ValueId up = b_.arith(OpKind::Add, at[k], carry);
      if (k == 0) {
        at[k] = up;
        break;
      }
      ValueId wraps = b_.compare(ops::CmpKind::Eq, up, sweep.extents[rows[k]]);
      at[k] = b_.select(wraps, zero, up);
      carry = b_.select(wraps, one, zero);
    }
    at.insert(at.end(), values.begin(), values.end());
    return at;
  });
  state.erase(state.begin(), state.begin() + static_cast<long>(rows.size()));
  return state;
}

// --- on the pool
// ----------------------------------------------------------------------------------------------------

/// What two neighbouring runs of points give together.
std::vector<ValueId> Lower::mergeStates(const NestResultState& r, const std::vector<ValueId>& a,
                                        const std::vector<ValueId>& b) {
  if (r.isFilter()) return {b_.arith(OpKind::Add, a[0], b[0])};
  TypeKind kind = types_.kind(typeOf(r.yielded));
  if (!isArg(r.result->monoid)) return {combine(r.result->monoid, a[0], b[0], kind)};
  ValueId none = b_.scalar(OpKind::Not, {a[1]}, TypeKind::Bool, TypeKind::Bool);
  ValueId better = b_.arith(OpKind::Or, none, isBetter(r.result->monoid, b[0], a[0], kind), TypeKind::Bool);
  ValueId take = b_.arith(OpKind::And, b[1], better, TypeKind::Bool);
  std::vector<ValueId> out{b_.select(take, b[0], a[0]), b_.arith(OpKind::Or, a[1], b[1], TypeKind::Bool)};
  for (size_t k = 2; k < a.size(); ++k) out.push_back(b_.select(take, b[k], a[k]));
  return out;
}

/// Copies the elements at the beginning of each block one behind the other; `bytes` is the size of one.
void Lower::joinBlocks(ValueId to, ValueId from, ValueId bytes, ValueId counts, ValueId blocks) {
  ValueId one = b_.integer(1);
  carryLoop(b_.integer(0), blocks, {b_.integer(0)}, [&](ValueId b, std::vector<ValueId> at) {
    ValueId count = b_.load(counts, {{b, one}}, {indexType, 8, 0, false, false});
    ValueId target = b_.addressOf(to, {{at[0], bytes}}, 1, 0);
    ValueId source = b_.addressOf(from, {{b_.arith(OpKind::Shl, b, b_.integer(blockShift)), bytes}}, 1, 0);
    b_.stmt(StmtKind::CopyBytes, {target, source, b_.arith(OpKind::Mul, count, bytes)});
    return std::vector<ValueId>{b_.arith(OpKind::Add, at[0], count)};
  });
}

/// The states of all results before their first point, in a row; `filtered` counts where a filter begins.
std::vector<ValueId> Lower::firstStates(const core::Op& op, Sweep& sweep, ValueId filtered) {
  std::vector<ValueId> states;
  for (NestResultState& r : sweep.results) {
    if (r.result->kind == core::NestResultKind::Collect) continue;
    std::vector<ValueId> state = r.isFilter() ? std::vector<ValueId>{filtered} : initState(op, r);
    r.at = static_cast<uint32_t>(states.size());
    r.count = static_cast<uint32_t>(state.size());
    states.insert(states.end(), state.begin(), state.end());
  }
  return states;
}

/// Memory for a scalar of each block.
Place Lower::leftByBlocks(ValueId scalar, ValueId blocks) {
  TypeId type = types_.scalar(b_.fn.typeOf(scalar).scalar);
  Place place = memoryPlace(allocArray(type, {blocks}, false), type);
  place.scale = layouts_.stored(type).size;
  return place;
}

/// What one block leaves joined with what those before it came to.
std::vector<ValueId> Lower::mergeBlock(const Sweep& sweep, std::vector<ValueId> before,
                                       const std::vector<ValueId>& block) {
  for (const NestResultState& r : sweep.results) {
    if (!r.count) continue;
    auto cut = [&](const std::vector<ValueId>& all) {
      return std::vector<ValueId>(all.begin() + r.at, all.begin() + r.at + r.count);
    };
    std::vector<ValueId> merged = mergeStates(r, cut(before), cut(block));
    std::copy(merged.begin(), merged.end(), before.begin() + r.at);
  }
  return before;
}

/// What the block numbered `block` left behind there.
Place Lower::leftAt(Place left, ValueId block) {
  left.terms.push_back({block, b_.integer(1)});
  return left;
}

/// Blocks `first` … `first + count` run in any order; each leaves its states in `left`, behind those of the
/// block before.
void Lower::runBlocks(const core::Op& op, Sweep& sweep, ValueId first, ValueId count,
                      const std::vector<Place>& left) {
  ForAttr attr;
  attr.mark = MarkKind::Parallel;
  attr.work = workOf(op, sweep.extents);
  RegionId region = b_.begin({indexType});
  ValueId at = b_.params(region)[0];
  auto [begin, end] = blockBounds(b_.arith(OpKind::Add, first, at), product(sweep.extents));
  openLanes(sweep);
  std::vector<ValueId> states = sweepBlock(op, sweep, 0, begin, end, firstStates(op, sweep, begin));
  if (context_.error) return;
  for (const NestResultState& r : sweep.results)
    if (r.isFilter()) states[r.at] = b_.arith(OpKind::Sub, states[r.at], begin);
  for (size_t k = 0; k < states.size(); ++k) storeStored(leftAt(left[k], at), {states[k]}, StoreMode::Fresh);
  region = b_.end();
  b_.stmt(StmtKind::For, {b_.integer(0), count}, {}, attr, {region});
}

/// Each block stores what it leaves, and the blocks are then combined in order: window by window, so that
/// few of them are remembered at a time. A filter writes what a block keeps at the block's beginning, and
/// remembers how much that is of all.
void Lower::sweepOnPool(const core::Op& op, Sweep& sweep) {
  ValueId points = product(sweep.extents), blocks = blockCount(points);
  bool filters = false;
  for (NestResultState& r : sweep.results) {
    if (r.result->kind == core::NestResultKind::Collect) continue;
    r.blocked = r.isReduce() && isOrdered(op, r);
    r.points = points;
    filters |= r.isFilter();
  }
  ValueId window = filters ? blocks : b_.arith(OpKind::Min, blocks, b_.integer(windowBlocks));
  std::vector<ValueId> totals = firstStates(op, sweep, b_.integer(0));
  std::vector<Place> left;
  for (ValueId v : totals) left.push_back(leftByBlocks(v, window));
  auto runWindow = [&](ValueId first, ValueId count, std::vector<ValueId> before) {
    runBlocks(op, sweep, first, count, left);
    if (context_.error) return before;
    return carryLoop(b_.integer(0), count, std::move(before), [&](ValueId b, std::vector<ValueId> sofar) {
      std::vector<ValueId> block;
      for (const Place& place : left) block.push_back(loadStored(leftAt(place, b))[0]);
      return mergeBlock(sweep, std::move(sofar), block);
    });
  };
  const uint64_t* known = b_.asConstant(blocks);
  if (filters || (known && *known <= static_cast<uint64_t>(windowBlocks)))
    totals = runWindow(b_.integer(0), blocks, totals);
  else
    totals =
        carryLoop(b_.integer(0), windowCount(blocks), totals, [&](ValueId w, std::vector<ValueId> sofar) {
          ValueId first = b_.arith(OpKind::Mul, w, b_.integer(windowBlocks));
          ValueId rest = b_.arith(OpKind::Sub, blocks, first);
          return runWindow(first, b_.arith(OpKind::Min, rest, b_.integer(windowBlocks)), std::move(sofar));
        });
  if (context_.error) return;
  for (const NestResultState& r : sweep.results)
    if (r.isFilter()) finishFilter(op, r, totals[r.at], left[r.at].base, blocks);
  finishLevel(op, sweep, 0, totals);
}

} // namespace melix::loops
