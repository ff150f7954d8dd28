#include "loops/emit/reduction_state.h"
#include "loops/emit/lower_arrays.h"

#include "core/analysis/evaluate.h"
#include "loops/ir/monoid.h"

#include <algorithm>

namespace melix::loops {

using core::MonoidKind;
using core::OpKind;

namespace {

TypeKind integerOf(TypeKind kind) {
  switch (types::scalarBits(kind)) {
  case 8: return TypeKind::I8;
  case 16: return TypeKind::I16;
  case 32: return TypeKind::I32;
  default: return TypeKind::I64;
  }
}

/// From the bits of a float to an integer that is ordered as it is, -0 below +0; and back.
ValueId ordinal(Builder& b, ValueId bits, TypeKind integer) {
  const unsigned width = types::scalarBits(integer);
  auto constant = [&](uint64_t v) { return b.constant(scalarType(integer), v); };
  ValueId sign = b.arith(OpKind::Shr, bits, constant(width - 1), integer);
  ValueId flips = b.arith(OpKind::And, sign, constant((uint64_t(1) << (width - 1)) - 1), integer);
  return b.arith(OpKind::Xor, bits, flips, integer);
}

/// A term of `max`, `min`, `argmax` or `argmin`: NaN is beyond all others. The next term waits for no
/// comparison of floats.
ValueId ordinalOf(Builder& b, MonoidKind monoid, ValueId x, TypeKind kind) {
  const TypeKind integer = integerOf(kind);
  ValueId bits = b.scalar(OpKind::Bitcast, {x}, kind, integer); // a NaN is positive there
  if (core::infoOf(monoid).finds == core::ExtremumKind::Least) {
    ValueId isNan = b.compare(ops::CmpKind::Ne, x, x, kind);
    bits = b.select(isNan, b.constant(scalarType(integer), core::lowBits(integer, ~uint64_t(0))), bits);
  }
  return ordinal(b, bits, integer);
}

/// Of argmin and argmax: whether a term comes before the best of the terms ahead of it, of which the first
/// wins.
ValueId isBetter(Builder& b, MonoidKind monoid, ValueId term, ValueId best, TypeKind kind) {
  const bool isGreatest = core::infoOf(monoid).finds == core::ExtremumKind::Greatest;
  return b.compare(isGreatest ? ops::CmpKind::Gt : ops::CmpKind::Lt, term, best, kind);
}

} // namespace

ReductionState::ReductionState(Lower& lower, const core::Op& nest, const ResultPlan& plan)
    : lower_(lower), b_(lower.b), nest_(nest), plan_(plan), monoid_(plan.part.spec->monoid),
      kind_(lower.types.kind(plan.type)),
      yielded_(lower.yieldOf(nest.regions[0]).operands[plan.part.yields.first]) {
  if (plan.ordered) ordered_.emplace(b_, plan, kind_);
}

bool ReductionState::isArg() const { return core::isPosition(*plan_.part.spec); }
/// Whether the state holds an ordinal.
bool ReductionState::isOrdinal() const {
  return core::infoOf(monoid_).finds != core::ExtremumKind::Neither && types::isFloatKind(kind_);
}

void ReductionState::open(std::span<const uint32_t> axes, const std::vector<ValueId>& extents, bool isOne) {
  if (ordered_) ordered_->open(axes, extents, isOne);
}

ReductionState::State ReductionState::init() {
  if (isCombine()) return lower_.leavesOf(plan_.part.units.of(nest_.operands));
  if (!lower_.types.isScalar(plan_.type)) {
    if (monoid_ != MonoidKind::Sum)
      lower_.fail("a reduction of values of type `" + lower_.types.print(plan_.type) + "`");
    return zeroOf(lower_, plan_.type);
  }
  if (isArg()) {
    State state{b_.zero(scalarType(isOrdinal() ? integerOf(kind_) : kind_)), b_.boolean(false)};
    for (uint32_t k = 0; k < plan_.part.results.count; ++k) state.push_back(b_.integer(0));
    return state;
  }
  if (ordered_) return ordered_->init();
  ValueId unit = monoidUnit(b_, monoid_, kind_);
  return {isOrdinal() ? ordinalOf(b_, monoid_, unit, kind_) : unit};
}

ReductionState::State ReductionState::add(const std::vector<ValueId>& axes, const State& state) {
  if (isCombine()) return addCombined(state);
  if (!lower_.types.isScalar(plan_.type))
    return addLeaves(lower_, plan_.type, state, lower_.leaves(yielded_));
  const ValueId term = lower_.leaf(yielded_);
  if (isArg()) return addPosition(axes, state, term);
  if (ordered_) return ordered_->add(axes, state, [&](ValueId sum) { return addTo(sum, term); });
  if (!isOrdinal()) return {addTo(state[0], term)};
  return {combine(b_, monoid_, state[0], ordinalOf(b_, monoid_, term, kind_), integerOf(kind_))};
}

/// By the region of the nest that combines two values.
ReductionState::State ReductionState::addCombined(const State& state) {
  const core::RegionId region = nest_.regions[plan_.part.spec->combineRegion];
  State all = state;
  for (ValueId v : lower_.leavesOf(plan_.part.yields.of(lower_.yieldOf(nest_.regions[0]).operands)))
    all.push_back(v);
  size_t at = 0;
  lower_.bind(lower_.in.regions[region].params, all, at);
  return lower_.lowerRegion(region);
}

ReductionState::State ReductionState::addPosition(const std::vector<ValueId>& axes, const State& state,
                                                  ValueId term) {
  if (isOrdinal()) term = ordinalOf(b_, monoid_, term, kind_);
  ValueId better = isBetter(b_, monoid_, term, state[0], isOrdinal() ? integerOf(kind_) : kind_);
  ValueId first = b_.scalar(OpKind::Not, {state[1]}, TypeKind::Bool, TypeKind::Bool);
  ValueId take = b_.arith(OpKind::Or, first, better, TypeKind::Bool);
  State next{b_.select(take, term, state[0]), b_.boolean(true)};
  const std::vector<uint32_t>& keep = plan_.part.spec->keep;
  for (uint32_t a = 0; a < axes.size(); ++a)
    if (std::ranges::find(keep, a) == keep.end())
      next.push_back(b_.select(take, axes[a], state[next.size()]));
  return next;
}

/// One more term; a fused one is the product it was made of, added with one rounding.
ValueId ReductionState::addTo(ValueId sum, ValueId term) {
  const core::OpId def = lower_.in.values[yielded_].def;
  if (!plan_.part.spec->fused || !def || lower_.in.ops[def].kind != OpKind::Mul)
    return combine(b_, monoid_, sum, term, kind_);
  const core::Op& product = lower_.in.ops[def];
  return b_.scalar(OpKind::Fma, {lower_.leaf(product.operands[0]), lower_.leaf(product.operands[1]), sum},
                   kind_, kind_);
}

ReductionState::State ReductionState::finish(const State& state) {
  if (isArg()) return {state.begin() + 2, state.end()};
  if (ordered_) return {ordered_->finish(state)};
  if (!isOrdinal()) return state;
  const TypeKind integer = integerOf(kind_);
  return {b_.scalar(OpKind::Bitcast, {ordinal(b_, state[0], integer)}, integer, kind_)};
}

ReductionState::State ReductionState::merge(const State& a, const State& b) {
  const TypeKind kind = b_.fn.typeOf(a[0]).scalar;
  if (!isArg()) return {combine(b_, monoid_, a[0], b[0], kind)};
  ValueId none = b_.scalar(OpKind::Not, {a[1]}, TypeKind::Bool, TypeKind::Bool);
  ValueId better = b_.arith(OpKind::Or, none, isBetter(b_, monoid_, b[0], a[0], kind), TypeKind::Bool);
  ValueId take = b_.arith(OpKind::And, b[1], better, TypeKind::Bool);
  State out{b_.select(take, b[0], a[0]), b_.arith(OpKind::Or, a[1], b[1], TypeKind::Bool)};
  for (size_t k = 2; k < a.size(); ++k) out.push_back(b_.select(take, b[k], a[k]));
  return out;
}

} // namespace melix::loops
