// Reductions: the state a result carries through the loops, from its unit to the value.
//
//   sums and products of floats   ordered_sum.h
//   argmin, argmax                best value, whether there is one, its index on each reduced axis
//   sums of arrays and structs    the leaves so far
//   combine                       the leaves of the values so far
//   max, min of floats            the value so far as an integer that is ordered alike
//   everything else               the value so far
#include "core/evaluate.h"
#include "loops/lower_nest.h"
#include "loops/monoid.h"

#include <algorithm>

namespace melix::loops {

using core::MonoidKind;

namespace {

bool isExtremum(MonoidKind monoid, TypeKind kind) {
  return (monoid == MonoidKind::Max || monoid == MonoidKind::Min) && types::isFloatKind(kind);
}

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
  ValueId sign = b.arith(core::OpKind::Shr, bits, constant(width - 1), integer);
  ValueId flips = b.arith(core::OpKind::And, sign, constant((uint64_t(1) << (width - 1)) - 1), integer);
  return b.arith(core::OpKind::Xor, bits, flips, integer);
}

/// A term of `max` or `min`: NaN is beyond all others. The next term waits for no comparison of floats.
ValueId ordinalOf(Builder& b, MonoidKind monoid, ValueId x, TypeKind kind) {
  const TypeKind integer = integerOf(kind);
  ValueId bits = b.scalar(core::OpKind::Bitcast, {x}, kind, integer); // a NaN is positive there
  if (monoid == MonoidKind::Min) {
    ValueId isNan = b.compare(ops::CmpKind::Ne, x, x, kind);
    bits = b.select(isNan, b.constant(scalarType(integer), core::lowBits(integer, ~uint64_t(0))), bits);
  }
  return ordinal(b, bits, integer);
}

} // namespace

TypeKind Lower::termKind(const NestResultState& r) const { return types_.kind(typeOf(r.yielded)); }

std::vector<ValueId> Lower::initState(const core::Op& op, NestResultState& r) {
  core::ValueId yielded = yieldOf(op.regions[0]).operands[r.part.yields.first];
  TypeId type = typeOf(yielded);
  MonoidKind monoid = r.part.spec->monoid;
  if (monoid == MonoidKind::Combine) {
    std::vector<ValueId> out;
    for (uint32_t k = 0; k < r.part.spec->yields; ++k)
      for (ValueId v : leaves(op.operands[r.part.units.first + k])) out.push_back(v);
    return out;
  }
  if (!types_.isScalar(type)) {
    if (monoid != MonoidKind::Sum) fail("a reduction of values of type `" + types_.print(type) + "`");
    return zeroOf(type);
  }
  TypeKind kind = types_.kind(type);
  if (monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax) {
    std::vector<ValueId> state{b_.zero(scalarType(kind)), b_.boolean(false)};
    for (uint32_t k = 0; k < r.part.results.count; ++k) state.push_back(b_.integer(0));
    return state;
  }
  if (r.ordered) return r.ordered->init();
  ValueId unit = monoidUnit(b_, monoid, kind);
  return {isExtremum(monoid, kind) ? ordinalOf(b_, monoid, unit, kind) : unit};
}

std::vector<ValueId> Lower::updateState(const core::Op& op, const Sweep& sweep, const NestResultState& r,
                                        std::vector<ValueId> state) {
  const core::Op& yield = yieldOf(op.regions[0]);
  core::ValueId yielded = yield.operands[r.part.yields.first];
  TypeId type = typeOf(yielded);
  MonoidKind monoid = r.part.spec->monoid;
  if (monoid == MonoidKind::Combine) {
    core::RegionId region = op.regions[r.part.spec->combineRegion];
    const std::vector<core::ValueId>& params = in_.regions[region].params;
    std::vector<core::ValueId> mine(yield.operands.begin() + r.part.yields.first,
                                    yield.operands.begin() + r.part.yields.first + r.part.spec->yields);
    std::vector<ValueId> all = state;
    for (ValueId v : leavesOf(mine)) all.push_back(v);
    size_t at = 0;
    bind(params, all, at);
    return lowerRegion(region);
  }
  if (!types_.isScalar(type)) return addLeaves(type, state, leaves(yielded));

  TypeKind kind = types_.kind(type);
  ValueId term = leaf(yielded);
  if (monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax) {
    ValueId better = isBetter(b_, monoid, term, state[0], kind);
    ValueId first = b_.scalar(OpKind::Not, {state[1]}, TypeKind::Bool, TypeKind::Bool);
    ValueId take = b_.arith(OpKind::Or, first, better, TypeKind::Bool);
    std::vector<ValueId> next{b_.select(take, term, state[0]), b_.boolean(true)};
    const std::vector<uint32_t>& keep = r.part.spec->keep;
    for (uint32_t a = 0; a < sweep.axes.size(); ++a)
      if (std::find(keep.begin(), keep.end(), a) == keep.end())
        next.push_back(b_.select(take, sweep.axes[a], state[next.size()]));
    return next;
  }
  // One more term; a fused one is the product it was made of, added with one rounding.
  auto addTo = [&](ValueId acc) {
    core::OpId def = in_.values[yielded].def;
    if (!r.part.spec->fused || !def || in_.ops[def].kind != OpKind::Mul)
      return combine(b_, monoid, acc, term, kind);
    const core::Op& product = in_.ops[def];
    return b_.scalar(OpKind::Fma, {leaf(product.operands[0]), leaf(product.operands[1]), acc}, kind, kind);
  };
  if (r.ordered) return r.ordered->add(sweep.axes, state, addTo);
  if (!isExtremum(monoid, kind)) return {addTo(state[0])};
  return {combine(b_, monoid, state[0], ordinalOf(b_, monoid, term, kind), integerOf(kind))};
}

std::vector<ValueId> Lower::finishState(const NestResultState& r, std::vector<ValueId> state) {
  const MonoidKind monoid = r.part.spec->monoid;
  if (monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax) return {state.begin() + 2, state.end()};
  if (r.ordered) return {r.ordered->finish(state)};
  if (monoid == MonoidKind::Combine || !types_.isScalar(typeOf(r.yielded)) ||
      !isExtremum(monoid, termKind(r)))
    return state;
  const TypeKind kind = termKind(r), integer = integerOf(kind);
  return {b_.scalar(OpKind::Bitcast, {ordinal(b_, state[0], integer)}, integer, kind)};
}

} // namespace melix::loops
