// Sweeps on the pool. The blocks of an outermost sweep (lower_blocks.cpp) run in any order and at once, each
// leaves some scalars behind, and what they leave is combined in order, which changes no bit.
#include "core/order.h"
#include "loops/lower_nest.h"
#include "loops/monoid.h"

namespace melix::loops {
namespace {

using core::MonoidKind;

constexpr int64_t windowShift = 10; ///< of blocks whose results are kept
constexpr int64_t windowBlocks = int64_t(1) << windowShift;

bool isArg(MonoidKind monoid) { return monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax; }

} // namespace

/// Whether the blocks of a whole sweep may run in any order: each leaves some scalars behind, and combining
/// those gives the same as going on from block to block.
bool Lower::runsOnPool(const core::Op& op, const Sweep& sweep) {
  if (nestDepth_ != 0 || sweep.withAccs || sweep.order.empty()) return false;
  bool leaves = false;
  for (const NestResultState& r : sweep.results) {
    if (r.part.spec->kind == core::NestResultKind::Collect) continue;
    leaves = true;
    if (r.isFilter()) {
      if (layouts_.stored(r.out[0].type).counted) return false;
      continue;
    }
    TypeId type = typeOf(yieldOf(op.regions[0]).operands[r.part.yields.first]);
    MonoidKind monoid = r.part.spec->monoid;
    if (!r.part.spec->keep.empty() || monoid == MonoidKind::Combine || !types_.isScalar(type)) return false;
    bool rounds = types_.isFloat(type) && (monoid == MonoidKind::Sum || monoid == MonoidKind::Prod);
    if (rounds && !r.ordered) return false;
  }
  return leaves && !isOneBlock(b_, b_.product(sweep.extents));
}

ValueId Lower::windowCount(ValueId blocks) {
  ValueId filled = b_.arith(OpKind::Add, blocks, b_.integer(windowBlocks - 1));
  return b_.arith(OpKind::Shr, filled, b_.integer(windowShift));
}

/// What two neighbouring runs of points give together.
std::vector<ValueId> Lower::mergeStates(const NestResultState& r, const std::vector<ValueId>& a,
                                        const std::vector<ValueId>& b) {
  if (r.isFilter()) return {b_.arith(OpKind::Add, a[0], b[0])};
  TypeKind kind = b_.fn.typeOf(a[0]).scalar;
  if (!isArg(r.part.spec->monoid)) return {combine(b_, r.part.spec->monoid, a[0], b[0], kind)};
  ValueId none = b_.scalar(OpKind::Not, {a[1]}, TypeKind::Bool, TypeKind::Bool);
  ValueId better =
      b_.arith(OpKind::Or, none, isBetter(b_, r.part.spec->monoid, b[0], a[0], kind), TypeKind::Bool);
  ValueId take = b_.arith(OpKind::And, b[1], better, TypeKind::Bool);
  std::vector<ValueId> out{b_.select(take, b[0], a[0]), b_.arith(OpKind::Or, a[1], b[1], TypeKind::Bool)};
  for (size_t k = 2; k < a.size(); ++k) out.push_back(b_.select(take, b[k], a[k]));
  return out;
}

/// Copies the elements at the beginning of each block one behind the other; `bytes` is the size of one.
void Lower::joinBlocks(ValueId to, ValueId from, ValueId bytes, ValueId counts, ValueId blocks) {
  ValueId one = b_.integer(1);
  b_.carryLoop(b_.integer(0), blocks, {b_.integer(0)}, [&](ValueId b, std::vector<ValueId> at) {
    ValueId count = b_.load(counts, {{b, one}}, {indexType, 8, 0, false, false});
    ValueId target = b_.addressOf(to, {{at[0], bytes}}, 1, 0);
    ValueId first = b_.arith(OpKind::Mul, b, b_.integer(core::blockTerms));
    ValueId source = b_.addressOf(from, {{first, bytes}}, 1, 0);
    b_.stmt(StmtKind::CopyBytes, {target, source, b_.arith(OpKind::Mul, count, bytes)});
    return std::vector<ValueId>{b_.arith(OpKind::Add, at[0], count)};
  });
}

/// The states of all results before their first point, in a row; `filtered` counts where a filter begins.
std::vector<ValueId> Lower::firstStates(const core::Op& op, Sweep& sweep, ValueId filtered) {
  std::vector<ValueId> states;
  for (NestResultState& r : sweep.results) {
    if (r.part.spec->kind == core::NestResultKind::Collect) continue;
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
void Lower::runBlocks(const core::Op& op, Sweep& sweep, const Blocks& blocks, ValueId first, ValueId count,
                      const std::vector<Place>& left) {
  ForAttr attr;
  attr.mark = MarkKind::Parallel;
  RegionId region = b_.begin({indexType});
  ValueId at = b_.params(region)[0];
  const Span span = spanOf(blocks, b_.arith(OpKind::Add, first, at));
  for (NestResultState& r : sweep.results)
    if (r.isBlocked()) r.ordered->openLanes();
  std::vector<ValueId> states = sweepBlock(op, sweep, blocks, span, firstStates(op, sweep, span.first));
  if (context_.error) return;
  for (const NestResultState& r : sweep.results)
    if (r.isFilter()) states[r.at] = b_.arith(OpKind::Sub, states[r.at], span.first);
  for (size_t k = 0; k < states.size(); ++k) storeStored(leftAt(left[k], at), {states[k]}, StoreMode::Fresh);
  region = b_.end();
  b_.stmt(StmtKind::For, {b_.integer(0), count}, {}, attr, {region});
}

/// Each block stores what it leaves, and the blocks are then combined in order: window by window, so that
/// few of them are remembered at a time. A filter writes what a block keeps at the block's beginning, and
/// remembers how much that is of all.
void Lower::sweepOnPool(const core::Op& op, Sweep& sweep) {
  const Blocks blocks = blocksFrom(sweep, 0);
  ValueId count = blockCount(blocks);
  bool filters = false;
  for (NestResultState& r : sweep.results) {
    if (r.part.spec->kind == core::NestResultKind::Collect) continue;
    if (r.ordered) r.ordered->open(sweep.order, sweep.extents, true);
    filters |= r.isFilter();
  }
  ValueId window = filters ? count : b_.arith(OpKind::Min, count, b_.integer(windowBlocks));
  std::vector<ValueId> totals = firstStates(op, sweep, b_.integer(0));
  std::vector<Place> left;
  for (ValueId v : totals) left.push_back(leftByBlocks(v, window));
  auto runWindow = [&](ValueId first, ValueId some, std::vector<ValueId> before) {
    runBlocks(op, sweep, blocks, first, some, left);
    if (context_.error) return before;
    return b_.carryLoop(b_.integer(0), some, std::move(before), [&](ValueId b, std::vector<ValueId> sofar) {
      std::vector<ValueId> block;
      for (const Place& place : left) block.push_back(loadStored(leftAt(place, b))[0]);
      return mergeBlock(sweep, std::move(sofar), block);
    });
  };
  const uint64_t* known = b_.asConstant(count);
  if (filters || (known && *known <= static_cast<uint64_t>(windowBlocks)))
    totals = runWindow(b_.integer(0), count, totals);
  else
    totals =
        b_.carryLoop(b_.integer(0), windowCount(count), totals, [&](ValueId w, std::vector<ValueId> sofar) {
          ValueId first = b_.arith(OpKind::Mul, w, b_.integer(windowBlocks));
          ValueId rest = b_.arith(OpKind::Sub, count, first);
          return runWindow(first, b_.arith(OpKind::Min, rest, b_.integer(windowBlocks)), std::move(sofar));
        });
  if (context_.error) return;
  for (const NestResultState& r : sweep.results)
    if (r.isFilter()) finishFilter(op, r, totals[r.at], left[r.at].base, count);
  finishLevel(op, sweep, 0, totals);
}

} // namespace melix::loops
