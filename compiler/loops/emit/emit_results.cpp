#include "loops/emit/emit_results.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_calls.h"
#include "loops/emit/lower_values.h"

#include "core/ir/walk.h"
#include "core/order/order.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

SweepResults::SweepResults(Lower& lower, const core::Op& nest, const SweepPlan& plan,
                           const std::vector<ValueId>& extents, const std::vector<ValueId>& axes)
    : lower_(lower), b_(lower.b), nest_(nest), extents_(extents), axes_(axes) {
  for (const ResultPlan& r : plan.results) {
    results_.push_back({r, {}, {}, {}});
    if (r.isReduce()) results_.back().state.emplace(lower, nest, r);
  }
}

bool SweepResults::filters() const {
  return std::ranges::any_of(results_, [](const SweptResult& r) { return r.plan.isFilter(); });
}

// --- memory

void SweepResults::allocate() {
  for (SweptResult& r : results_) {
    r.out.resize(r.plan.part.results.count);
    r.placed.resize(r.plan.part.results.count);
    if (r.plan.isFilter()) allocateFilter(r);
    if (r.plan.isFilter() || r.plan.keepsNone()) continue;
    for (uint32_t k = 0; k < r.out.size() && !lower_.failed(); ++k) allocateArray(r, k);
  }
}

/// Room for as many elements as there are points.
void SweepResults::allocateFilter(SweptResult& r) {
  for (uint32_t k = 0; k < r.out.size(); ++k) {
    const TypeId type = lower_.typeOf(result(r, k)), elem = lower_.types.element(type);
    const StoredForm form = lower_.layouts.stored(elem);
    const std::vector<ValueId> dims = filterDims(type, extents_[0]);
    r.out[k] = memoryPlace(lower_, allocArray(lower_, elem, dims, form.counted), elem);
    r.out[k].scale = form.size;
    const std::vector<ValueId> strides = denseStrides(lower_, dims);
    for (size_t a = 0; a < dims.size(); ++a) r.out[k].axes.push_back({strides[a], dims[a], true});
  }
}

void SweepResults::allocateArray(SweptResult& r, uint32_t k) {
  const core::ValueId v = result(r, k);
  const TypeId type = lower_.typeOf(v), elem = lower_.types.element(type);
  for (types::DimId d : lower_.types[type].dims)
    if (!lower_.dimInScope(d)) lower_.fail("a nest of arrays of a size found in its body");
  if (lower_.failed()) return;
  const Destination* given = lower_.given.find(v);
  r.placed[k] = given != nullptr;
  const Destination at = given
                             ? *given
                             : Destination{allocArray(lower_, elem, lower_.dimsOf(type),
                                                      lower_.layouts.stored(elem).counted, arraysLike(type)),
                                           {}};
  r.out[k] = densePlace(lower_, at, type);
}

/// The arrays of scalars of a type that the nest reads: each might lie where the result does
/// (reuse_operand_memory.h).
std::vector<ValueId> SweepResults::arraysLike(TypeId type) const {
  std::vector<ValueId> out;
  if (!lower_.types.isScalar(lower_.types.element(type))) return out;
  const core::Function& fn = lower_.in;
  std::unordered_set<uint32_t> inside; // ops of the body, and regions
  auto isInside = [&](core::ValueId v) {
    const core::OpId def = fn.values[v].def;
    return inside.contains(def ? 2 * def.index : 2 * fn.values[v].region.index + 1);
  };
  inside.insert(2 * nest_.regions[0].index + 1);
  core::forEachOp(fn, nest_.regions[0], [&](core::OpId id) {
    const core::Op& read = fn.ops[id];
    inside.insert(2 * id.index);
    for (core::RegionId r : read.regions) inside.insert(2 * r.index + 1);
    if (read.kind != OpKind::Get || lower_.typeOf(read.operands[0]) != type || isInside(read.operands[0]))
      return;
    const Rep& array = lower_.rep(read.operands[0]);
    if (array.leaves.size() != 1 || array.view || array.placed) return;
    if (std::ranges::find(out, array.leaves[0]) == out.end()) out.push_back(array.leaves[0]);
  });
  return out;
}

void SweepResults::defineArrays() {
  if (lower_.failed()) return;
  for (const SweptResult& r : results_) {
    if (r.plan.isFilter() || r.plan.keepsNone()) continue;
    for (uint32_t k = 0; k < r.out.size(); ++k) lower_.defineArray(result(r, k), r.out[k].base, r.placed[k]);
  }
}

// --- one point

void SweepResults::planDestinations() {
  for (const SweptResult& r : results_) {
    if (!r.plan.isCollect() || r.plan.keepsNone()) continue;
    const Place place = placeOf(r, 0);
    writeTo(lower_, yielded(r), nest_.regions[0], {place.base, place.terms});
  }
}

void SweepResults::takePoint(std::vector<ValueId>& carried) {
  for (SweptResult& r : results_) {
    const core::ValueId v = yielded(r);
    if (r.plan.isFilter())
      carried[r.at] = storeKept(r, carried[r.at]);
    else if (r.plan.isReduce())
      r.setState(carried, r.state->add(axes_, r.stateIn(carried)));
    else if (r.plan.keepsNone())
      lower_.define(result(r, 0), lower_.leaves(v));
    else if (!lower_.rep(v).placed)
      storeAt(placeOf(r, 0), lower_.leaves(v));
  }
}

/// The place of result `k` at the current kept axes; its own inner axes are left.
Place SweepResults::placeOf(const SweptResult& r, uint32_t k) const {
  Place place = r.out[k];
  for (uint32_t axis : r.plan.part.spec->keep) {
    place.terms.push_back({axes_[axis], place.axes.front().stride});
    place.axes.erase(place.axes.begin());
  }
  return place;
}

/// Stores an element, or an inner array that fits the axes left.
void SweepResults::storeAt(const Place& place, const std::vector<ValueId>& value) {
  if (place.axes.empty()) return storeStored(lower_, place, value, StoreMode::Fresh);
  Place from = memoryPlace(lower_, value[0], place.type);
  from.scale = place.scale;
  from.axes = place.axes; // dense on both sides, so the strides agree
  copyBetween(lower_, place, from, true);
}

/// How many a filter has kept, with this point if its condition holds.
ValueId SweepResults::storeKept(const SweptResult& r, ValueId count) {
  const ValueId keep = lower_.leaf(yielded(r));
  std::vector<std::vector<ValueId>> values;
  for (uint32_t k = 0; k < r.out.size(); ++k) values.push_back(lower_.leaves(yielded(r, 1 + k)));
  const RegionId yes = b_.begin();
  for (uint32_t k = 0; k < r.out.size(); ++k) {
    Place place = r.out[k];
    place.terms.push_back({count, place.axes[0].stride});
    place.axes.erase(place.axes.begin());
    storeAt(place, values[k]);
  }
  b_.end({b_.arith(OpKind::Add, count, b_.integer(1))});
  const RegionId no = b_.begin();
  b_.end({count});
  return b_.results(b_.stmt(StmtKind::If, {keep}, {indexType}, {}, {yes, no}))[0];
}

// --- where loops end

void SweepResults::finishLevel(uint32_t level, const std::vector<ValueId>& carried) {
  if (lower_.failed()) return;
  b_.loc = nest_.loc;
  for (SweptResult& r : results_) {
    if (!r.plan.endsAt(level)) continue;
    const std::vector<ValueId> values = r.state->finish(r.stateIn(carried));
    auto at = values.begin();
    for (uint32_t k = 0; k < r.out.size(); ++k) {
      const core::ValueId v = result(r, k);
      const bool isCombined = core::isCombine(*r.plan.part.spec); // one value yielded for each result
      const size_t count = level > 0 && !isCombined
                               ? values.size() / r.out.size()
                               : lower_.layouts.leafCount(lower_.typeOf(level > 0 ? yielded(r, k) : v));
      std::vector<ValueId> value(at, at + static_cast<ptrdiff_t>(count));
      at += static_cast<ptrdiff_t>(count);
      if (level == 0)
        lower_.define(v, std::move(value));
      else
        storeAt(placeOf(r, k), value);
    }
  }
}

/// Extents of a filter's result when it keeps `first` elements.
std::vector<ValueId> SweepResults::filterDims(TypeId type, ValueId first) {
  const std::vector<types::DimId> inner(lower_.types[type].dims.begin() + 1, lower_.types[type].dims.end());
  std::vector<ValueId> dims{first};
  for (types::DimId d : inner) dims.push_back(lower_.dim(d));
  return dims;
}

void SweepResults::finishFilter(const SweptResult& r, ValueId count, ValueId counts, ValueId blocks) {
  lower_.defineDim(nest_.resultDims[r.plan.part.filter], count);
  for (uint32_t k = 0; k < r.out.size(); ++k) {
    const TypeId elem = r.out[k].type;
    const StoredForm form = lower_.layouts.stored(elem);
    ValueId data = r.out[k].base;
    if (!form.counted) {
      ValueId exact = allocArray(lower_, elem, filterDims(lower_.typeOf(result(r, k)), count), false);
      ValueId bytes = b_.arith(OpKind::Mul, r.out[k].axes[0].stride, b_.integer(form.size));
      if (counts)
        joinBlocks(exact, data, bytes, counts, blocks);
      else
        b_.stmt(StmtKind::CopyBytes,
                {b_.pointerOf(exact), b_.pointerOf(data), b_.arith(OpKind::Mul, count, bytes)});
      b_.stmt(StmtKind::KeepAlive, {data});
      b_.stmt(StmtKind::KeepAlive, {exact});
      data = exact;
    }
    lower_.define(result(r, k), {data});
  }
}

/// Copies the elements at the beginning of each block one after the other; `bytes` is the size of one.
void SweepResults::joinBlocks(ValueId to, ValueId from, ValueId bytes, ValueId counts, ValueId blocks) {
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

} // namespace melix::loops
