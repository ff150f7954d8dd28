#include "loops/ordered_sum.h"

#include "core/evaluate.h"
#include "core/order.h"
#include "loops/monoid.h"

#include <algorithm>

namespace melix::loops {

using core::MonoidKind;
using core::OpKind;
using core::OrderKind;
using ops::CmpKind;

namespace {

/// Lanes that are cleared and combined one by one; where not even these are reached, they do no harm.
constexpr int64_t few = 8;

} // namespace

bool isOneBlock(const Builder& b, ValueId points) {
  const uint64_t* known = b.asConstant(points);
  return known && *known <= static_cast<uint64_t>(core::blockTerms);
}

ValueId wholeRows(Builder& b, ValueId row) {
  if (const uint64_t* known = b.asConstant(row))
    return b.integer(core::rowsInBlock(static_cast<int64_t>(*known)));
  ValueId one = b.integer(1), some = b.arith(OpKind::Max, row, one);
  return b.arith(OpKind::Max, b.arith(OpKind::IDiv, b.integer(core::blockTerms), some), one);
}

OrderedSum::OrderedSum(Builder& b, MadeFunctions& made, const core::NestResult& result, TypeKind kind,
                       const std::vector<uint32_t>& sequence)
    : b_(&b), made_(&made), monoid_(result.monoid), kind_(kind),
      lanes_(result.order == OrderKind::Lanes ? result.lanes : 0) {
  if (!sequence.empty()) rowAxis_ = sequence.back();
}

ValueId OrderedSum::unit() const { return monoidUnit(*b_, monoid_, kind_); }

ValueId OrderedSum::combine(ValueId x, ValueId y) const { return loops::combine(*b_, monoid_, x, y, kind_); }

void OrderedSum::open(std::span<const uint32_t> axes, const std::vector<ValueId>& extents, bool blocked) {
  blocked_ = blocked;
  std::vector<ValueId> swept;
  for (uint32_t axis : axes) swept.push_back(extents[axis]);
  points_ = b_->product(swept);
  row_ = rowAxis_ ? extents[*rowAxis_] : b_->integer(1);
  if (!hasLanes()) return;
  const int64_t lanes = lanes_;
  const uint64_t* known = b_->asConstant(row_);
  held_ = known ? b_->integer(std::clamp<int64_t>(static_cast<int64_t>(*known), 1, lanes))
                : b_->arith(OpKind::Max, b_->integer(std::min(few, lanes)),
                            b_->arith(OpKind::Min, row_, b_->integer(lanes)));
  if (blocked) return;
  openLanes();
  clearLanes();
}

/// To the first total a block is added as it is, were it a negative zero.
std::vector<ValueId> OrderedSum::init() const {
  ValueId total = b_->constant(scalarType(kind_), core::firstTotal(monoid_, kind_));
  if (blocked_) return {total};
  return {total, unit(), b_->integer(0)};
}

std::vector<ValueId> OrderedSum::add(const std::vector<ValueId>& axes, const std::vector<ValueId>& state,
                                     const AddTerm& addTerm) const {
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
  const bool sum = monoid_ == MonoidKind::Sum;
  if (blocked_ && (!sum || isOneBlock(*b_, points_))) return state[0];
  ValueId all = state[0];
  if (!blocked_) { // what is left of the last block
    ValueId last = hasLanes() ? foldLanes() : state[1];
    ValueId some = b_->compare(CmpKind::Gt, state[2], b_->integer(0));
    all = b_->select(some, combine(all, last), all);
  }
  // Without a term the total is still the negative zero.
  return sum ? b_->select(b_->compare(CmpKind::Gt, points_, b_->integer(0)), all, unit()) : all;
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

/// As many as `few`, or all if it is known that there are less.
int64_t OrderedSum::fewLanes() const {
  const uint64_t* known = b_->asConstant(held_);
  return std::min(known ? static_cast<int64_t>(*known) : int64_t(lanes_), few);
}

void OrderedSum::clearLanes() const {
  ValueId one = b_->integer(1), begun = unit();
  auto clear = [&](ValueId i) { b_->store(scratch_, {{i, one}}, laneAccess(), begun); };
  const int64_t first = fewLanes();
  for (int64_t k = 0; k < first; ++k) clear(b_->integer(k));
  if (first < few || lanes_ <= few) return;
  b_->carryLoop(b_->integer(first), held_, {}, [&](ValueId i, std::vector<ValueId> none) {
    clear(i);
    return none;
  });
}

/// A strip begins where a lane of the narrowest sum does, so that only wider ones have to look.
void OrderedSum::enterStrip(ValueId first, uint32_t width) {
  strip_ = first;
  lane_ = hasLanes() && width < lanes_ ? b_->arith(OpKind::And, first, b_->integer(int64_t(lanes_) - 1))
                                       : b_->integer(0);
}

ValueId OrderedSum::laneOf(ValueId index) const {
  const uint64_t* known = b_->asConstant(row_);
  if (known && *known <= lanes_) return index;
  if (!strip_) return b_->arith(OpKind::And, index, b_->integer(int64_t(lanes_) - 1));
  return b_->arith(OpKind::Add, lane_, b_->arith(OpKind::Sub, index, strip_));
}

void OrderedSum::addToLane(const std::vector<ValueId>& axes, const AddTerm& addTerm) const {
  const ValueId lane = laneOf(axes[*rowAxis_]);
  const std::vector<Term> at{{lane, b_->integer(1)}};
  b_->store(scratch_, at, laneAccess(), addTerm(b_->load(scratch_, at, laneAccess())));
}

/// The lanes of a block in one.
ValueId OrderedSum::foldLanes() const {
  const auto first = static_cast<size_t>(fewLanes());
  if (lanes_ > few && first == few) {
    RegionId yes = b_->begin();
    b_->stmt(StmtKind::Call, {scratch_, held_}, {}, foldFunction());
    b_->end();
    RegionId no = b_->begin();
    b_->end();
    b_->stmt(StmtKind::If, {b_->compare(CmpKind::Gt, held_, b_->integer(few))}, {}, {}, {yes, no});
  }
  std::vector<ValueId> lanes;
  for (size_t k = 0; k < first; ++k)
    lanes.push_back(
        b_->load(scratch_, {{b_->integer(static_cast<int64_t>(k)), b_->integer(1)}}, laneAccess()));
  for (auto half = static_cast<size_t>(few / 2); half >= 1; half /= 2) {
    for (size_t k = 0; k + half < lanes.size(); ++k) lanes[k] = combine(lanes[k], lanes[k + half]);
    lanes.resize(std::min(lanes.size(), half));
  }
  return combine(lanes[0], unit());
}

/// A function of its own, shared by the module: the lanes held, combined by halves until few are left.
FunctionId OrderedSum::foldFunction() const {
  const bool sum = monoid_ == MonoidKind::Sum;
  std::string key = (sum ? "sum.lanes." : "prod.lanes.") + std::string(types::scalarName(kind_)) + "." +
                    std::to_string(lanes_);
  auto [found, fresh] = made_->byKey.emplace(key, FunctionId());
  if (!fresh) return found->second;
  Function fn;
  fn.name = sum ? "sum" : "prod";
  fn.key = key;
  Builder b(fn);
  RegionId body = b.begin({addressType, indexType});
  ValueId scratch = b.params(body)[0], held = b.params(body)[1];
  ValueId one = b.integer(1);
  for (int64_t half = int64_t(lanes_) / 2; half >= few; half /= 2) {
    const ValueId distance = b.integer(half);
    b.loop(b.arith(OpKind::Min, distance, b.arith(OpKind::Sub, held, distance)), [&](ValueId i) {
      ValueId other = b.arith(OpKind::Add, i, distance);
      ValueId low = b.load(scratch, {{i, one}}, laneAccess());
      ValueId high = b.load(scratch, {{other, one}}, laneAccess());
      b.store(scratch, {{i, one}}, laneAccess(), loops::combine(b, monoid_, low, high, kind_));
    });
    held = b.arith(OpKind::Min, held, distance);
  }
  fn.body = b.end();
  fn.modes = {ModeKind::Borrow, ModeKind::Borrow};
  return found->second = made_->module->functions.add(std::move(fn));
}

} // namespace melix::loops
