#include "loops/emit/ordered_sum.h"

#include "core/analysis/evaluate.h"
#include "core/order/order.h"
#include "loops/ir/monoid.h"

#include <algorithm>
#include <bit>

namespace melix::loops {

using core::MonoidKind;
using core::OpKind;
using ops::CmpKind;

namespace {

/// Lanes that are combined one by one; where not even these are reached, they do no harm.
constexpr uint32_t few = 4;
/// Those that are always combined; more only where a row reaches them.
constexpr uint32_t some = 16;

/// Points 0..n, each by itself.
template <class Body>
void points(Builder& b, uint32_t n, const Body& body) {
  ForAttr attr;
  attr.dependence = Dependence::Independent;
  b.carryLoop(
      b.integer(0), b.integer(n), {},
      [&](ValueId i, std::vector<ValueId> none) {
        body(i);
        return none;
      },
      attr);
}

} // namespace

ValueId wholeRows(Builder& b, ValueId row) {
  if (const uint64_t* known = b.asConstant(row))
    return b.integer(core::rowsInBlock(static_cast<int64_t>(*known)));
  ValueId one = b.integer(1), some = b.arith(OpKind::Max, row, one);
  return b.arith(OpKind::Max, b.arith(OpKind::IDiv, b.integer(core::blockTerms), some), one);
}

OrderedSum::OrderedSum(Builder& b, const ResultPlan& plan, TypeKind kind)
    : b_(&b), monoid_(plan.part.spec->monoid), kind_(kind), isFused_(plan.part.spec->fused),
      lanes_(plan.lanes), blocked_(plan.blocked) {
  if (!plan.sequence.empty()) rowAxis_ = plan.sequence.back();
}

ValueId OrderedSum::unit() const { return monoidUnit(*b_, monoid_, kind_); }

ValueId OrderedSum::combine(ValueId x, ValueId y) const { return loops::combine(*b_, monoid_, x, y, kind_); }

void OrderedSum::open(std::span<const uint32_t> axes, const std::vector<ValueId>& extents, bool isOne) {
  isOne_ = isOne;
  std::vector<ValueId> swept;
  for (uint32_t axis : axes) swept.push_back(extents[axis]);
  points_ = b_->product(swept);
  row_ = rowAxis_ ? extents[*rowAxis_] : b_->integer(1);
  if (!hasLanes()) return;
  if (blocked_) return;
  openLanes();
  clearLanes();
}

/// To the first total a block is added as it is, were it a negative zero; without a term there is no block.
std::vector<ValueId> OrderedSum::init() const {
  const ValueId total = b_->constant(scalarType(kind_), core::firstTotal(monoid_, kind_));
  if (!blocked_) return {total, unit(), b_->integer(0)};
  const uint64_t* known = b_->asConstant(points_);
  if (isOne_ || monoid_ != MonoidKind::Sum || (known && *known > 0)) return {total};
  return {b_->select(b_->compare(CmpKind::Gt, points_, b_->integer(0)), total, unit())};
}

std::vector<ValueId> OrderedSum::add(const std::vector<ValueId>& axes, const std::vector<ValueId>& state,
                                     AddTerm addTerm) const {
  if (hasLanes()) addToLane(axes, addTerm);
  if (blocked_) return hasLanes() ? state : std::vector<ValueId>{addTerm(state[0])};
  ValueId zero = b_->integer(0), one = b_->integer(1);
  ValueId block = hasLanes() ? state[1] : addTerm(state[1]);
  ValueId next = rowAxis_ ? b_->arith(OpKind::Add, axes[*rowAxis_], one) : one;
  ValueId inBlock = b_->arith(OpKind::And, next, b_->integer(core::blockTerms - 1));
  ValueId ends = b_->either(b_->compare(CmpKind::Eq, next, row_), b_->compare(CmpKind::Eq, inBlock, zero));
  ValueId count = b_->select(ends, b_->arith(OpKind::Add, state[2], one), state[2]);
  ValueId full = b_->both(ends, b_->compare(CmpKind::Eq, count, wholeRows(*b_, row_)));
  RegionId yes = b_->begin();
  ValueId finished = hasLanes() ? foldLanes() : block;
  if (hasLanes()) clearLanes();
  b_->end({combine(state[0], finished), unit(), zero});
  RegionId no = b_->begin();
  b_->end({state[0], block, count});
  return b_->results(
      b_->stmt(StmtKind::If, {full}, {scalarType(kind_), scalarType(kind_), indexType}, {}, {yes, no}));
}

ValueId OrderedSum::finish(const std::vector<ValueId>& state) const {
  if (blocked_) return state[0];
  // What is left of the last block.
  const ValueId last = hasLanes() ? foldLanes() : state[1];
  const ValueId some = b_->compare(CmpKind::Gt, state[2], b_->integer(0));
  const ValueId all = b_->select(some, combine(state[0], last), state[0]);
  // Without a term the total is still the negative zero.
  return monoid_ == MonoidKind::Sum
             ? b_->select(b_->compare(CmpKind::Gt, points_, b_->integer(0)), all, unit())
             : all;
}

ValueId OrderedSum::beginBlock() const {
  ValueId begun = unit();
  if (hasLanes()) clearLanes();
  return begun;
}

ValueId OrderedSum::endBlock(ValueId chain) const { return hasLanes() ? foldLanes() : chain; }

ValueId OrderedSum::joinBlock(ValueId total, ValueId block) const { return combine(total, block); }

// --- lanes
// ----------------------------------------------------------------------------------------------------------

Access OrderedSum::laneAccess() const {
  return {scalarType(kind_), types::scalarBits(kind_) / 8, 0, false, false};
}

void OrderedSum::openLanes() {
  if (hasLanes()) scratch_ = b_->scratch(uint64_t(types::scalarBits(kind_) / 8) * lanes_);
}

/// A power of two: so many lanes are reached at most.
uint32_t OrderedSum::usedLanes() const {
  const uint64_t* known = b_->asConstant(row_);
  return known ? static_cast<uint32_t>(std::bit_ceil(std::clamp<uint64_t>(*known, 1, lanes_))) : lanes_;
}

std::vector<Term> OrderedSum::laneAt(ValueId lane) const { return {{lane, b_->integer(1)}}; }

/// What is done where a row has more terms than some: that may be seen only when the program runs.
template <class Body>
void OrderedSum::beyond(uint32_t terms, const Body& body) const {
  if (usedLanes() <= terms) return;
  if (b_->asConstant(row_)) return body();
  RegionId yes = b_->begin();
  body();
  b_->end();
  RegionId no = b_->begin();
  b_->end();
  b_->stmt(StmtKind::If, {b_->compare(CmpKind::Gt, row_, b_->integer(terms))}, {}, {}, {yes, no});
}

void OrderedSum::clearLanes() const {
  const ValueId begun = unit();
  points(*b_, usedLanes(), [&](ValueId lane) { b_->store(scratch_, laneAt(lane), laneAccess(), begun); });
}

/// Neighbours in a row are in different lanes.
ValueId OrderedSum::laneOf(ValueId index) const {
  const uint64_t* known = b_->asConstant(row_);
  return known && *known <= lanes_ ? index : b_->arith(OpKind::And, index, b_->integer(int64_t(lanes_) - 1));
}

void OrderedSum::addToLane(const std::vector<ValueId>& axes, AddTerm addTerm) const {
  const std::vector<Term> at = laneAt(laneOf(axes[*rowAxis_]));
  b_->store(scratch_, at, laneAccess(), addTerm(b_->load(scratch_, at, laneAccess())));
}

/// The lanes of a block in one, by halves. Lanes not reached hold what changes no other but a negative zero,
/// which comes of products alone: too small ones that are added unrounded.
ValueId OrderedSum::foldLanes() const {
  auto lane = [&](ValueId at) { return b_->load(scratch_, laneAt(at), laneAccess()); };
  auto foldTo = [&](uint32_t least, uint32_t most) {
    for (uint32_t half = most / 2; half >= least; half /= 2)
      points(*b_, half, [&](ValueId low) {
        const ValueId high = b_->arith(OpKind::Add, low, b_->integer(half));
        b_->store(scratch_, laneAt(low), laneAccess(), combine(lane(low), lane(high)));
      });
  };
  beyond(some, [&] { foldTo(some, usedLanes()); });
  if (usedLanes() > few) foldTo(few, std::min(some, usedLanes()));
  std::vector<ValueId> lanes;
  for (uint32_t k = 0; k < std::min(usedLanes(), few); ++k) lanes.push_back(lane(b_->integer(k)));
  for (size_t half = lanes.size() / 2; half >= 1; half /= 2) {
    for (size_t k = 0; k < half; ++k) lanes[k] = combine(lanes[k], lanes[k + half]);
    lanes.resize(half);
  }
  return isFused_ ? combine(lanes[0], unit()) : lanes[0];
}

} // namespace melix::loops
