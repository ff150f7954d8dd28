// Reductions: the state a result carries through the loops, from its unit to the value.
//
//   sums and products of floats   total, block, terms in the block [, scratch of the lanes];
//                                 blocked: the total outside a block, the block inside
//   argmin, argmax                best value, whether there is one, its index on each reduced axis
//   sums of arrays and structs    the leaves so far
//   combine                       the leaves of the values so far
//   everything else               the value so far
#include "core/evaluate.h"
#include "core/order.h"
#include "loops/lower_nest.h"

#include <algorithm>

namespace melix::loops {

using core::MonoidKind;
using core::OrderKind;

bool Lower::isOrdered(const core::Op& op, const NestResultState& r) {
  TypeKind kind = types_.kind(typeOf(yieldOf(op.regions[0]).operands[r.firstYield]));
  return core::isOrdered(r.result->monoid, r.result->order, kind);
}

ValueId Lower::monoidUnit(MonoidKind monoid, TypeKind kind) {
  return b_.constant(scalarType(kind), core::unitOf(monoid, kind));
}

std::vector<ValueId> Lower::initState(const core::Op& op, NestResultState& r) {
  core::ValueId yielded = yieldOf(op.regions[0]).operands[r.firstYield];
  TypeId type = typeOf(yielded);
  MonoidKind monoid = r.result->monoid;
  if (monoid == MonoidKind::Combine) {
    std::vector<ValueId> out;
    for (uint32_t k = 0; k < r.result->yields; ++k)
      for (ValueId v : leaves(op.operands[r.firstUnit + k])) out.push_back(v);
    return out;
  }
  if (!types_.isScalar(type)) {
    if (monoid != MonoidKind::Sum) fail("a reduction of values of type `" + types_.print(type) + "`");
    return zeroOf(type);
  }
  TypeKind kind = types_.kind(type);
  if (monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax) {
    std::vector<ValueId> state{b_.zero(scalarType(kind)), b_.boolean(false)};
    for (uint32_t k = 0; k < r.resultCount; ++k) state.push_back(b_.integer(0));
    return state;
  }
  ValueId unit = monoidUnit(monoid, kind);
  if (!isOrdered(op, r)) return {unit};
  ValueId total = b_.constant(scalarType(kind), core::firstTotal(monoid, kind));
  std::vector<ValueId> state{total, unit, b_.integer(0)};
  if (r.blocked)
    state.resize(1);
  else if (r.result->order == OrderKind::Lanes)
    state.push_back(lanes(r, kind));
  return state;
}

/// Lanes in the frame, all of them the unit.
ValueId Lower::lanes(const NestResultState& r, TypeKind kind) {
  uint32_t bytes = types::scalarBits(kind) / 8;
  ValueId scratch = b_.scratch(uint64_t(bytes) * r.result->lanes), unit = monoidUnit(r.result->monoid, kind);
  loop(b_.integer(r.result->lanes), [&](ValueId i) {
    b_.store(scratch, {{i, b_.integer(1)}}, {scalarType(kind), bytes, 0, false, false}, unit);
  });
  return scratch;
}

ValueId Lower::combine(MonoidKind monoid, ValueId a, ValueId b, TypeKind kind) {
  return b_.arith(core::combiningOp(monoid), a, b, kind);
}

/// Strictly beyond the best, or the first NaN: once the best is NaN nothing is better.
ValueId Lower::isBetter(MonoidKind monoid, ValueId term, ValueId best, TypeKind kind) {
  using ops::CmpKind;
  ValueId beyond = b_.compare(monoid == MonoidKind::ArgMax ? CmpKind::Gt : CmpKind::Lt, term, best, kind);
  if (!types::isFloatKind(kind)) return beyond;
  ValueId termNan = b_.compare(CmpKind::Ne, term, term, kind);
  ValueId bestOk = b_.compare(CmpKind::Eq, best, best, kind);
  ValueId firstNan = b_.arith(OpKind::And, termNan, bestOk, TypeKind::Bool);
  return b_.arith(OpKind::Or, beyond, firstNan, TypeKind::Bool);
}

std::vector<ValueId> Lower::updateState(const core::Op& op, const Sweep& sweep, const NestResultState& r,
                                        std::vector<ValueId> state) {
  const core::Op& yield = yieldOf(op.regions[0]);
  core::ValueId yielded = yield.operands[r.firstYield];
  TypeId type = typeOf(yielded);
  MonoidKind monoid = r.result->monoid;
  if (monoid == MonoidKind::Combine) {
    core::RegionId region = op.regions[r.result->combineRegion];
    const std::vector<core::ValueId>& params = in_.regions[region].params;
    std::vector<core::ValueId> mine(yield.operands.begin() + r.firstYield,
                                    yield.operands.begin() + r.firstYield + r.result->yields);
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
    ValueId better = isBetter(monoid, term, state[0], kind);
    ValueId first = b_.scalar(OpKind::Not, {state[1]}, TypeKind::Bool, TypeKind::Bool);
    ValueId take = b_.arith(OpKind::Or, first, better, TypeKind::Bool);
    std::vector<ValueId> next{b_.select(take, term, state[0]), b_.boolean(true)};
    const std::vector<uint32_t>& keep = r.result->keep;
    for (uint32_t a = 0; a < sweep.axes.size(); ++a)
      if (std::find(keep.begin(), keep.end(), a) == keep.end())
        next.push_back(b_.select(take, sweep.axes[a], state[next.size()]));
    return next;
  }
  // One more term; a fused one is the product it was made of, added with one rounding.
  auto addTo = [&](ValueId acc) {
    core::OpId def = in_.values[yielded].def;
    if (!r.result->fused || !def || in_.ops[def].kind != OpKind::Mul) return combine(monoid, acc, term, kind);
    const core::Op& product = in_.ops[def];
    return b_.scalar(OpKind::Fma, {leaf(product.operands[0]), leaf(product.operands[1]), acc}, kind, kind);
  };
  if (!isOrdered(op, r)) return {addTo(state[0])};

  if (r.blocked) {
    if (r.result->order == OrderKind::Chain) return {addTo(state[0])};
    // Blocks begin at multiples of the lanes, so the number of the point tells the lane.
    uint32_t bytes = types::scalarBits(kind) / 8;
    Access access{scalarType(kind), bytes, 0, false, false};
    ValueId lane = b_.arith(OpKind::And, sweep.point, b_.integer(r.result->lanes - 1));
    std::vector<Term> at{{lane, b_.integer(1)}};
    b_.store(r.scratch, at, access, addTo(b_.load(r.scratch, at, access)));
    return state;
  }
  // A full block goes into the total.
  ValueId count = b_.arith(OpKind::Add, state[2], b_.integer(1));
  ValueId full = b_.compare(ops::CmpKind::Eq, count, b_.integer(core::blockTerms));
  ValueId block = state[1];
  if (r.result->order == OrderKind::Lanes) {
    uint32_t bytes = types::scalarBits(kind) / 8;
    Access access{scalarType(kind), bytes, 0, false, false};
    ValueId lane = b_.arith(OpKind::And, state[2], b_.integer(r.result->lanes - 1));
    std::vector<Term> at{{lane, b_.integer(1)}};
    ValueId old = b_.load(state[3], at, access);
    b_.store(state[3], at, access, addTo(old));
  } else {
    block = addTo(block);
  }
  RegionId yes = b_.begin();
  ValueId finished = r.result->order == OrderKind::Lanes ? foldLanes(r, state[3], kind) : block;
  b_.end({combine(monoid, state[0], finished, kind), monoidUnit(monoid, kind), b_.integer(0)});
  RegionId no = b_.begin();
  b_.end({state[0], block, count});
  StmtId s = b_.stmt(StmtKind::If, {full}, {scalarType(kind), scalarType(kind), indexType}, {}, {yes, no});
  std::vector<ValueId> next = b_.results(s);
  if (state.size() > 3) next.push_back(state[3]);
  return next;
}

/// A function of its own, shared by the module: the lanes of a block, combined pairwise (halves, then
/// quarters …) into one; they are units again afterwards.
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
  uint32_t bytes = types::scalarBits(kind) / 8;
  Access access{scalarType(kind), bytes, 0, false, false};
  RegionId body = b.begin({addressType});
  ValueId scratch = b.params(body)[0];
  ValueId one = b.integer(1), zero = b.integer(0), unit = inner.monoidUnit(monoid, kind);

  RegionId more = b.begin({indexType});
  b.end({b.compare(ops::CmpKind::Ge, b.params(more)[0], one)});
  RegionId step = b.begin({indexType});
  ValueId half = b.params(step)[0];
  inner.loop(half, [&](ValueId i) {
    ValueId other = b.arith(OpKind::Add, i, half);
    ValueId low = b.load(scratch, {{i, one}}, access), high = b.load(scratch, {{other, one}}, access);
    b.store(scratch, {{i, one}}, access, inner.combine(monoid, low, high, kind));
  });
  b.end({b.arith(OpKind::Shr, half, one)});
  b.stmt(StmtKind::While, {b.integer(lanes / 2)}, {indexType}, {}, {more, step});
  ValueId all = b.load(scratch, {{zero, one}}, access);
  inner.loop(b.integer(lanes), [&](ValueId i) { b.store(scratch, {{i, one}}, access, unit); });
  fn.body = b.end({all});
  fn.results = {scalarType(kind)};
  fn.modes = {ModeKind::Borrow};
  return found->second = context_.module->functions.add(std::move(fn));
}

ValueId Lower::foldLanes(const NestResultState& r, ValueId scratch, TypeKind kind) {
  FunctionId fold = foldFunction(r.result->monoid, kind, r.result->lanes);
  return b_.value(StmtKind::Call, {scratch}, scalarType(kind), fold);
}

std::vector<ValueId> Lower::finishState(const core::Op& op, const NestResultState& r,
                                        std::vector<ValueId> state) {
  core::ValueId yielded = yieldOf(op.regions[0]).operands[r.firstYield];
  TypeId type = typeOf(yielded);
  MonoidKind monoid = r.result->monoid;
  if (monoid == MonoidKind::ArgMin || monoid == MonoidKind::ArgMax) return {state.begin() + 2, state.end()};
  TypeKind kind = types_.kind(type);
  if (monoid == MonoidKind::Combine || !types_.isScalar(type) || !isOrdered(op, r)) return state;
  if (r.blocked) {
    if (monoid == MonoidKind::Prod || isOneBlock(r.points)) return state;
    // Without a block the total is still the negative zero.
    ValueId any = b_.compare(ops::CmpKind::Gt, r.points, b_.integer(0));
    return {b_.select(any, state[0], monoidUnit(monoid, kind))};
  }
  // What is left of the last block, which is all there is if nothing came.
  ValueId last = r.result->order == OrderKind::Lanes ? foldLanes(r, state[3], kind) : state[1];
  ValueId some = b_.compare(ops::CmpKind::Gt, state[2], b_.integer(0));
  ValueId sum = combine(monoid, state[0], last, kind);
  if (monoid == MonoidKind::Prod) return {b_.select(some, sum, state[0])};
  // A total that is still the negative zero means no block was full: then the sum is the block.
  return {b_.select(some, sum, b_.arith(OpKind::Add, state[0], monoidUnit(monoid, kind), kind))};
}

} // namespace melix::loops
