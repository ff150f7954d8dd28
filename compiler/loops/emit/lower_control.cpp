// Control flow.
#include "loops/emit/lower_control.h"

#include "loops/emit/lower.h"
#include "loops/emit/lower_arrays.h"
#include "loops/emit/lower_calls.h"
#include "loops/emit/lower_lists.h"
#include "loops/emit/lower_values.h"

namespace melix::loops {

namespace {

/// The rows that a loop collects: their memory, and the stride between them.
struct Collected {
  Destination rows; ///< all of them
  ValueId stride;
  bool placed; ///< the memory belongs to somebody else
  Destination row(ValueId i) const {
    Destination out = rows;
    out.terms.push_back({i, stride});
    return out;
  }
};

std::vector<ValueType> resultTypes(Lower& l, const core::Op& op) {
  std::vector<ValueType> types = l.leafTypes(op.results);
  types.insert(types.end(), op.resultDims.size(), indexType);
  return types;
}

void bindResults(Lower& l, const core::Op& op, StmtId s) {
  const std::vector<ValueId>& values = l.b.results(s);
  size_t at = 0;
  l.bind(op.results, values, at);
  for (types::DimSym d : op.resultDims) l.defineDim(d, values[at++]);
}

/// Where what the iterations collect is written; the rows' dims are those of the results.
std::vector<Collected> collectedBy(Lower& l, const core::LoopView& loop) {
  std::vector<Collected> out;
  for (core::ValueId stack : loop.stackResults()) {
    TypeId type = l.typeOf(stack);
    for (types::DimId d : l.types[type].dims)
      if (!l.dimInScope(d)) l.fail("a loop that collects arrays of a size found in its body");
    if (l.context.error) return out;
    std::vector<ValueId> extents = l.dimsOf(type);
    TypeId elem = l.types.element(type);
    const Destination* given = l.given.find(stack);
    Destination rows =
        given ? *given : Destination{allocArray(l, elem, extents, l.layouts.stored(elem).counted), {}};
    out.push_back({std::move(rows), denseStrides(l, extents)[0], given != nullptr});
  }
  return out;
}

/// Row `i` of what is collected becomes a value of the body.
void storeRow(Lower& l, const Collected& to, ValueId i, core::ValueId v) {
  const Destination row = to.row(i);
  TypeId type = l.typeOf(v);
  if (l.types.kind(type) == TypeKind::Array)
    return copyBetween(l, densePlace(l, row, type), densePlace(l, l.leaf(v), type), true);
  Place place = memoryPlace(l, row.base, type);
  place.terms = row.terms;
  place.scale = l.layouts.stored(place.type).size;
  storeStored(l, place, l.leaves(v), StoreMode::Fresh);
}

/// What a loop carries: values that an iteration passes to the next, and Lists that grow by an element an
/// iteration. These get room for all elements before the loop, which stores each in its place.
struct Carried {
  struct Growing {
    size_t number;
    core::ValueId pushed;
    LongerList list{};
  };
  std::vector<size_t> passed;
  std::vector<Growing> growing;

  Carried(Lower& l, const core::LoopView& loop) {
    for (size_t k = 0; k < loop.carries(); ++k) {
      const core::OpId push = onlyPush(l, loop, k);
      if (push.valid())
        growing.push_back({k, l.in.ops[push].results[0]});
      else
        passed.push_back(k);
    }
  }
  std::vector<core::ValueId> of(std::span<const core::ValueId> all) const {
    std::vector<core::ValueId> out;
    for (size_t k : passed) out.push_back(all[k]);
    return out;
  }
};

/// The body as a region whose parameters are the index and the carries; yields the next carries.
RegionId forBody(Lower& l, const core::LoopView& loop, const std::vector<ValueType>& params,
                 const Carried& carried, const std::vector<Collected>& rows) {
  DimValues::Scope scope(l.dims);
  RegionId body = l.b.begin(params);
  const std::vector<ValueId>& values = l.b.params(body);
  const ValueId index = values[0];
  size_t at = 0;
  l.bind(std::vector{loop.index()}, values, at);
  l.bind(carried.of(loop.carryParams()), values, at);
  for (types::DimSym d : loop.bodyDims()) l.defineDim(d, values[at++]);
  for (const Carried::Growing& grown : carried.growing) {
    const ValueId place = l.b.arith(OpKind::Add, grown.list.before, index);
    l.setRoom(grown.pushed, {elementPlace(l, l.typeOf(grown.pushed), grown.list.address, place)});
  }
  for (size_t k = 0; k < rows.size(); ++k) writeTo(l, loop.stackYields()[k], loop.body(), rows[k].row(index));
  l.lowerOps(loop.body());
  if (l.context.error) return body;
  for (size_t k = 0; k < rows.size(); ++k) {
    core::ValueId v = loop.stackYields()[k];
    if (!l.rep(v).placed) storeRow(l, rows[k], index, v);
  }
  std::vector<ValueId> yields = l.leavesOf(carried.of(loop.carryYields()));
  for (types::DimId d : l.yieldOf(loop.body()).dims) yields.push_back(l.dim(d));
  return l.b.end(yields);
}

/// The operand of a switch: the number of an enum's case, or the matched number itself.
ValueId numberOf(Lower& l, TypeKind kind, ValueId matched) {
  if (kind == TypeKind::Enum) return l.b.value(StmtKind::Tag, {matched}, indexType);
  if (kind == TypeKind::Bool) return l.b.scalar(OpKind::Convert, {matched}, kind, TypeKind::U8);
  return matched;
}

} // namespace

void lowerIf(Lower& l, const core::Op& op) {
  ValueId condition = l.leaf(op.operands[0]);
  std::vector<RegionId> regions;
  for (core::RegionId r : op.regions) {
    l.b.begin();
    std::vector<ValueId> yields = l.lowerRegion(r);
    regions.push_back(l.b.end(yields));
  }
  l.b.loc = op.loc;
  bindResults(l, op, l.b.stmt(StmtKind::If, {condition}, resultTypes(l, op), {}, regions));
}

namespace {

/// A payload is loaded, or it stays in its node.
void definePayload(Lower& l, core::ValueId payload, const Place& place) {
  const bool isInPlace = l.layouts.isInPlace(place.stored);
  const bool isRecord = l.layouts.isProduct(place.type) && l.types.kind(place.type) != TypeKind::Array;
  if (isInPlace || isRecord)
    if (const auto arms = l.facts->views.armsThatTake(payload))
      return l.stay(payload, isInPlace ? elementsInPlace(l, place) : place, *arms);
  l.define(payload, loadStored(l, place));
}

} // namespace

void lowerMatch(Lower& l, const core::Op& op) {
  const auto& attr = op.as<core::MatchAttr>();
  TypeId type = l.typeOf(op.operands[0]);
  ValueId word = l.leaf(op.operands[0]);
  ValueId number = numberOf(l, l.types.kind(type), word);
  std::vector<RegionId> regions;
  for (uint32_t r = 0; r < op.regions.size(); ++r) {
    const core::Region& region = l.in.regions[op.regions[r]];
    l.b.begin();
    uint32_t tagOfRegion = 0;
    while (tagOfRegion < attr.regionOf.size() && attr.regionOf[tagOfRegion] != r) ++tagOfRegion;
    if (!region.dimParams.empty()) l.fail("a match arm that binds dimensions");
    for (uint32_t k = 0; k < region.params.size() && tagOfRegion < attr.regionOf.size(); ++k)
      definePayload(l, region.params[k], fieldPlace(l, word, type, tagOfRegion, k));
    std::vector<ValueId> yields = l.lowerRegion(op.regions[r]);
    regions.push_back(l.b.end(yields));
  }
  l.b.loc = op.loc;
  bindResults(l, op,
              l.b.stmt(StmtKind::Switch, {number}, resultTypes(l, op), SwitchAttr{attr.regionOf}, regions));
}

void lowerFor(Lower& l, const core::Op& op) {
  const core::LoopView loop(l.in, op);
  ValueId zero = l.b.integer(0);
  ValueId count = l.b.arith(OpKind::Max, l.leaf(loop.count()), zero);
  if (loop.extent().valid()) l.defineDim(loop.extent(), count);
  std::vector<ValueId> operands{zero, count};
  Carried carried(l, loop);
  const std::vector<core::ValueId> begun = carried.of(loop.carryOperands());
  for (ValueId v : l.leavesOf(begun)) operands.push_back(v);
  for (types::DimId d : op.dims) operands.push_back(l.dim(d));
  std::vector<Collected> rows = collectedBy(l, loop);
  if (l.context.error) return;
  std::vector<ValueType> params{indexType};
  for (ValueType type : l.leafTypes(begun)) params.push_back(type);
  params.insert(params.end(), loop.bodyDims().size(), indexType);
  for (Carried::Growing& grown : carried.growing)
    grown.list = lengthen(l, loop.carryOperands()[grown.number], count);
  RegionId body = forBody(l, loop, params, carried, rows);
  if (l.context.error) return;

  l.b.loc = op.loc;
  ForAttr attr;
  attr.polls = !l.inNest();
  std::vector<ValueType> types(params.begin() + 1, params.end());
  const std::vector<ValueId>& results = l.b.results(l.b.stmt(StmtKind::For, operands, types, attr, {body}));
  size_t at = 0;
  l.bind(carried.of(loop.carryResults()), results, at);
  for (types::DimSym d : loop.resultDims()) l.defineDim(d, results[at++]);
  for (const Carried::Growing& grown : carried.growing) {
    l.b.stmt(StmtKind::KeepAlive, {grown.list.list});
    l.define(loop.carryResults()[grown.number], {grown.list.list});
  }
  for (size_t k = 0; k < rows.size(); ++k)
    l.defineArray(loop.stackResults()[k], rows[k].rows.base, rows[k].placed);
}

void lowerWhile(Lower& l, const core::Op& op) {
  std::vector<ValueId> operands = l.leavesOf(op.operands);
  for (types::DimId d : op.dims) operands.push_back(l.dim(d));
  std::vector<ValueType> types;
  for (ValueId v : operands) types.push_back(l.b.fn.typeOf(v));
  std::vector<RegionId> regions;
  for (core::RegionId r : op.regions) {
    const core::Region& region = l.in.regions[r];
    DimValues::Scope scope(l.dims);
    RegionId made = l.b.begin(types);
    const std::vector<ValueId>& values = l.b.params(made);
    size_t at = 0;
    l.bind(region.params, values, at);
    for (types::DimSym d : region.dimParams) l.defineDim(d, values[at++]);
    std::vector<ValueId> yields = l.lowerRegion(r);
    regions.push_back(l.b.end(yields));
  }
  l.b.loc = op.loc;
  bindResults(l, op, l.b.stmt(StmtKind::While, operands, resultTypes(l, op), {}, regions));
}

} // namespace melix::loops
