// The body of a sweep: where values go, and what the whole is estimated to cost.
#include "loops/lower_nest.h"

namespace melix::loops {

/// The place of result `k` at the current kept axes; its own inner axes are left.
Place Lower::placeInResult(const core::Op&, const Sweep& sweep, const NestResultState& r, uint32_t k) {
  Place place = r.out[k];
  for (uint32_t axis : r.part.spec->keep) {
    place.terms.push_back({sweep.axes[axis], place.axes.front().stride});
    place.axes.erase(place.axes.begin());
  }
  return place;
}

void Lower::storeResult(const core::Op& op, const Sweep& sweep, const NestResultState& r, uint32_t k,
                        const std::vector<ValueId>& value) {
  storeAt(placeInResult(op, sweep, r, k), value);
}

/// Stores an element, or an inner array that fits the axes left.
void Lower::storeAt(const Place& place, const std::vector<ValueId>& value) {
  if (place.axes.empty()) return storeStored(place, value, StoreMode::Fresh);
  Place from = memoryPlace(value[0], place.type);
  from.scale = place.scale;
  from.axes = place.axes; // dense on both sides, so the strides agree
  copyBetween(place, from, true);
}

/// Arrays that the body only yields are written where they go.
void Lower::planDestinations(const core::Op& op, const Sweep& sweep) {
  const core::Op& yield = yieldOf(op.regions[0]);
  for (const NestResultState& r : sweep.results) {
    if (r.part.spec->kind != core::NestResultKind::Collect || r.keepsNone()) continue;
    Place place = placeInResult(op, sweep, r, 0);
    writeTo(yield.operands[r.part.yields.first], op.regions[0], {place.base, place.terms});
  }
}

std::vector<ValueId> Lower::sweepBody(const core::Op& op, Sweep& sweep, std::vector<ValueId> carried) {
  core::RegionId body = op.regions[0];
  const core::Region& region = in_.regions[body];
  DimScope scope(*this);
  for (size_t a = 0; a < sweep.axes.size(); ++a) define(region.params[a], {sweep.axes[a]});
  size_t at = 0;
  std::vector<core::ValueId> accs(region.params.begin() + static_cast<long>(sweep.axes.size()),
                                  region.params.end());
  if (sweep.withAccs) bind(accs, sweep.accs, at);
  std::unordered_map<uint32_t, Destination> outer = destinations_;
  planDestinations(op, sweep);
  if (!sweep.whole) filters_[body] = &sweep.needed;
  ++nestDepth_;
  lowerOps(body);
  --nestDepth_;
  filters_.erase(body);
  destinations_ = std::move(outer); // another sweep has other places
  if (context_.error) return carried;

  b_.loc = op.loc;
  const core::Op& yield = yieldOf(body);
  for (NestResultState& r : sweep.results) {
    core::ValueId v = yield.operands[r.part.yields.first];
    if (r.isFilter()) {
      ValueId keep = leaf(v), count = carried[r.at];
      const std::vector<ValueId> value = leaves(yield.operands[r.part.yields.first + 1]);
      RegionId yes = b_.begin();
      Place place = r.out[0];
      place.terms.push_back({count, place.axes[0].stride});
      place.axes.erase(place.axes.begin());
      storeAt(place, value);
      b_.end({b_.arith(OpKind::Add, count, b_.integer(1))});
      RegionId no = b_.begin();
      b_.end({count});
      carried[r.at] = b_.results(b_.stmt(StmtKind::If, {keep}, {indexType}, {}, {yes, no}))[0];
    } else if (r.isReduce()) {
      auto first = carried.begin() + r.at;
      std::vector<ValueId> state = updateState(op, sweep, r, {first, first + r.count});
      std::copy(state.begin(), state.end(), carried.begin() + r.at);
    } else if (r.keepsNone()) {
      define(op.results[r.part.results.first], leaves(v));
    } else if (!rep(v).placed) {
      storeResult(op, sweep, r, 0, leaves(v));
    }
  }
  return carried;
}

/// Extents of a filter's result when it keeps `first` elements.
std::vector<ValueId> Lower::filterDims(TypeId type, ValueId first) {
  std::vector<types::DimId> inner(types_[type].dims.begin() + 1, types_[type].dims.end());
  std::vector<ValueId> dims{first};
  for (types::DimId d : inner) dims.push_back(dim(d));
  return dims;
}

/// Of what a filter kept, an array of its own size. It may lie in blocks, each as many as `counts` says.
void Lower::finishFilter(const core::Op& op, const NestResultState& r, ValueId count, ValueId counts,
                         ValueId blocks) {
  defineDim(op.resultDims[r.part.filter], count);
  TypeId elem = r.out[0].type;
  ValueId data = r.out[0].base;
  if (!layouts_.stored(elem).counted) {
    ValueId exact = allocArray(elem, filterDims(typeOf(op.results[r.part.results.first]), count), false);
    ValueId bytes = b_.arith(OpKind::Mul, r.out[0].axes[0].stride, b_.integer(layouts_.stored(elem).size));
    if (counts)
      joinBlocks(exact, data, bytes, counts, blocks);
    else
      b_.stmt(StmtKind::CopyBytes,
              {b_.pointerOf(exact), b_.pointerOf(data), b_.arith(OpKind::Mul, count, bytes)});
    b_.stmt(StmtKind::KeepAlive, {data});
    b_.stmt(StmtKind::KeepAlive, {exact});
    data = exact;
  }
  define(op.results[r.part.results.first], {data});
}

} // namespace melix::loops
