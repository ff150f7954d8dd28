// Float sums and products in their order (core/order.h). A *blocked* one has its blocks cut by the loops
// themselves (lower_blocks.cpp): its state is the total outside of a block and the chain inside. Any other
// counts: its state is the total, the chain, and how many rows (or pieces of a long one) are in the block.
// Lanes are an array in the frame, cleared where a block begins.
#include "core/evaluate.h"
#include "core/order.h"
#include "loops/lower_nest.h"

#include <algorithm>

namespace melix::loops {

using core::MonoidKind;
using core::OrderKind;

namespace {

/// Lanes that are cleared and combined one by one; where not even these are reached, they do no harm.
constexpr int64_t few = 8;

Access laneAccess(TypeKind kind) { return {scalarType(kind), types::scalarBits(kind) / 8, 0, false, false}; }

} // namespace

TypeKind Lower::termKind(const NestResultState& r) const { return types_.kind(typeOf(r.yielded)); }

ValueId Lower::unit(const NestResultState& r) { return monoidUnit(r.result->monoid, termKind(r)); }

/// What is told by the sizes, once before the sweep from `level` on.
void Lower::openOrdered(const Sweep& sweep, uint32_t level, NestResultState& r) {
  std::vector<ValueId> extents;
  for (size_t k = level; k < sweep.order.size(); ++k) extents.push_back(sweep.extents[sweep.order[k]]);
  r.points = product(extents);
  r.row = r.sequence.empty() ? b_.integer(1) : sweep.extents[r.sequence.back()];
  if (!r.hasLanes()) return;
  const int64_t lanes = r.result->lanes;
  const uint64_t* known = b_.asConstant(r.row);
  r.held = known ? b_.integer(std::clamp<int64_t>(static_cast<int64_t>(*known), 1, lanes))
                 : b_.arith(OpKind::Max, b_.integer(std::min(few, lanes)),
                            b_.arith(OpKind::Min, r.row, b_.integer(lanes)));
}

/// To the first total a block is added as it is, were it a negative zero.
std::vector<ValueId> Lower::initOrdered(const NestResultState& r) {
  TypeKind kind = termKind(r);
  ValueId total = b_.constant(scalarType(kind), core::firstTotal(r.result->monoid, kind));
  if (r.blocked) return {total};
  return {total, unit(r), b_.integer(0)};
}

std::vector<ValueId> Lower::addOrdered(const Sweep& sweep, const NestResultState& r,
                                       std::vector<ValueId> state, const AddTerm& add) {
  if (r.hasLanes()) addToLane(sweep, r, add);
  if (r.blocked) return r.hasLanes() ? state : std::vector<ValueId>{add(state[0])};
  using ops::CmpKind;
  TypeKind kind = termKind(r);
  ValueId zero = b_.integer(0), one = b_.integer(1);
  ValueId block = r.hasLanes() ? state[1] : add(state[1]);
  ValueId next = r.sequence.empty() ? one : b_.arith(OpKind::Add, sweep.axes[r.sequence.back()], one);
  ValueId inBlock = b_.arith(OpKind::And, next, b_.integer(core::blockTerms - 1));
  ValueId ends = b_.either(b_.compare(CmpKind::Eq, next, r.row), b_.compare(CmpKind::Eq, inBlock, zero));
  ValueId count = b_.select(ends, b_.arith(OpKind::Add, state[2], one), state[2]);
  ValueId full = b_.both(ends, b_.compare(CmpKind::Eq, count, wholeRows(r.row)));
  RegionId yes = b_.begin();
  ValueId finished = r.hasLanes() ? foldLanes(r) : block;
  if (r.hasLanes()) clearLanes(r);
  b_.end({combine(r.result->monoid, state[0], finished, kind), unit(r), zero});
  RegionId no = b_.begin();
  b_.end({state[0], block, count});
  return b_.results(
      b_.stmt(StmtKind::If, {full}, {scalarType(kind), scalarType(kind), indexType}, {}, {yes, no}));
}

ValueId Lower::finishOrdered(const NestResultState& r, const std::vector<ValueId>& state) {
  const bool sum = r.result->monoid == MonoidKind::Sum;
  if (r.blocked && (!sum || isOneBlock(r.points))) return state[0];
  ValueId all = state[0];
  if (!r.blocked) { // what is left of the last block
    ValueId last = r.hasLanes() ? foldLanes(r) : state[1];
    ValueId some = b_.compare(ops::CmpKind::Gt, state[2], b_.integer(0));
    all = b_.select(some, combine(r.result->monoid, all, last, termKind(r)), all);
  }
  // Without a term the total is still the negative zero.
  return sum ? b_.select(b_.compare(ops::CmpKind::Gt, r.points, b_.integer(0)), all, unit(r)) : all;
}

// --- lanes
// ----------------------------------------------------------------------------------------------------------

void Lower::openLanes(NestResultState& r) {
  r.scratch = b_.scratch(uint64_t(types::scalarBits(termKind(r)) / 8) * r.result->lanes);
}

/// As many as `few`, or all if it is known that there are less.
int64_t Lower::fewLanes(const NestResultState& r) const {
  const uint64_t* known = b_.asConstant(r.held);
  return std::min(known ? static_cast<int64_t>(*known) : int64_t(r.result->lanes), few);
}

void Lower::clearLanes(const NestResultState& r) {
  ValueId one = b_.integer(1), begun = unit(r);
  auto clear = [&](ValueId i) { b_.store(r.scratch, {{i, one}}, laneAccess(termKind(r)), begun); };
  const int64_t first = fewLanes(r);
  for (int64_t k = 0; k < first; ++k) clear(b_.integer(k));
  if (first < few || r.result->lanes <= few) return;
  carryLoop(b_.integer(first), r.held, {}, [&](ValueId i, std::vector<ValueId> none) {
    clear(i);
    return none;
  });
}

void Lower::addToLane(const Sweep& sweep, const NestResultState& r, const AddTerm& add) {
  ValueId lane = sweep.axes[r.sequence.back()];
  const uint64_t* known = b_.asConstant(r.row);
  if (!known || *known > r.result->lanes) lane = b_.arith(OpKind::And, lane, b_.integer(r.result->lanes - 1));
  const std::vector<Term> at{{lane, b_.integer(1)}};
  const Access access = laneAccess(termKind(r));
  b_.store(r.scratch, at, access, add(b_.load(r.scratch, at, access)));
}

/// The lanes of a block in one.
ValueId Lower::foldLanes(const NestResultState& r) {
  const auto first = static_cast<size_t>(fewLanes(r));
  const TypeKind kind = termKind(r);
  if (r.result->lanes > few && first == few) {
    RegionId yes = b_.begin();
    b_.stmt(StmtKind::Call, {r.scratch, r.held}, {}, foldFunction(r.result->monoid, kind, r.result->lanes));
    b_.end();
    RegionId no = b_.begin();
    b_.end();
    b_.stmt(StmtKind::If, {b_.compare(ops::CmpKind::Gt, r.held, b_.integer(few))}, {}, {}, {yes, no});
  }
  std::vector<ValueId> lanes;
  for (size_t k = 0; k < first; ++k)
    lanes.push_back(
        b_.load(r.scratch, {{b_.integer(static_cast<int64_t>(k)), b_.integer(1)}}, laneAccess(kind)));
  for (auto half = static_cast<size_t>(few / 2); half >= 1; half /= 2) {
    for (size_t k = 0; k + half < lanes.size(); ++k)
      lanes[k] = combine(r.result->monoid, lanes[k], lanes[k + half], kind);
    lanes.resize(std::min(lanes.size(), half));
  }
  return combine(r.result->monoid, lanes[0], unit(r), kind);
}

/// A function of its own, shared by the module: the lanes held, combined by halves until few are left.
FunctionId Lower::foldFunction(MonoidKind monoid, TypeKind kind, uint32_t lanes) {
  bool sum = monoid == MonoidKind::Sum;
  std::string key = (sum ? "sum.lanes." : "prod.lanes.") + std::string(types::scalarName(kind)) + "." +
                    std::to_string(lanes);
  auto [found, fresh] = context_.helpers.emplace(key, FunctionId());
  if (!fresh) return found->second;
  Function fn;
  fn.name = sum ? "sum" : "prod";
  fn.key = key;
  Lower inner(context_, fn, in_);
  Builder& b = inner.b_;
  const Access access = laneAccess(kind);
  RegionId body = b.begin({addressType, indexType});
  ValueId scratch = b.params(body)[0], held = b.params(body)[1];
  ValueId one = b.integer(1), least = b.integer(few);

  RegionId more = b.begin({indexType, indexType});
  b.end({b.compare(ops::CmpKind::Ge, b.params(more)[0], least)});
  RegionId step = b.begin({indexType, indexType});
  ValueId half = b.params(step)[0], there = b.params(step)[1];
  inner.loop(b.arith(OpKind::Min, half, b.arith(OpKind::Sub, there, half)), [&](ValueId i) {
    ValueId other = b.arith(OpKind::Add, i, half);
    ValueId low = b.load(scratch, {{i, one}}, access), high = b.load(scratch, {{other, one}}, access);
    b.store(scratch, {{i, one}}, access, inner.combine(monoid, low, high, kind));
  });
  b.end({b.arith(OpKind::Shr, half, one), b.arith(OpKind::Min, there, half)});
  b.stmt(StmtKind::While, {b.integer(lanes / 2), held}, {indexType, indexType}, {}, {more, step});
  fn.body = b.end();
  fn.modes = {ModeKind::Borrow, ModeKind::Borrow};
  return found->second = context_.module->functions.add(std::move(fn));
}

} // namespace melix::loops
