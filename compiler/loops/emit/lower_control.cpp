// Control flow.
#include "loops/emit/lower.h"

namespace melix::loops {

std::vector<ValueType> Lower::resultTypes(const core::Op& op) {
  std::vector<ValueType> types = leafTypes(op.results);
  types.insert(types.end(), op.resultDims.size(), indexType);
  return types;
}

void Lower::bindResults(const core::Op& op, StmtId s) {
  const std::vector<ValueId>& values = b_.results(s);
  size_t at = 0;
  bind(op.results, values, at);
  for (types::DimSym d : op.resultDims) defineDim(d, values[at++]);
}

void Lower::lowerIf(const core::Op& op) {
  ValueId condition = leaf(op.operands[0]);
  std::vector<RegionId> regions;
  for (core::RegionId r : op.regions) {
    b_.begin();
    std::vector<ValueId> yields = lowerRegion(r);
    regions.push_back(b_.end(yields));
  }
  b_.loc = op.loc;
  bindResults(op, b_.stmt(StmtKind::If, {condition}, resultTypes(op), {}, regions));
}

void Lower::lowerMatch(const core::Op& op) {
  const auto& attr = op.as<core::MatchAttr>();
  TypeId type = typeOf(op.operands[0]);
  ValueId word = leaf(op.operands[0]);
  ValueId tag = b_.value(StmtKind::Tag, {word}, indexType);
  std::vector<RegionId> regions;
  for (uint32_t r = 0; r < op.regions.size(); ++r) {
    const core::Region& region = in_.regions[op.regions[r]];
    b_.begin();
    uint32_t tagOfRegion = 0;
    while (tagOfRegion < attr.regionOf.size() && attr.regionOf[tagOfRegion] != r) ++tagOfRegion;
    if (!region.dimParams.empty()) fail("a match arm that binds dimensions");
    for (uint32_t k = 0; k < region.params.size() && tagOfRegion < attr.regionOf.size(); ++k) {
      Place place = memoryPlace(word, typeOf(region.params[k]));
      place.offset = layouts_.fieldOffset(type, tagOfRegion, k);
      define(region.params[k], loadStored(place));
    }
    std::vector<ValueId> yields = lowerRegion(op.regions[r]);
    regions.push_back(b_.end(yields));
  }
  b_.loc = op.loc;
  bindResults(op, b_.stmt(StmtKind::Switch, {tag}, resultTypes(op), SwitchAttr{attr.regionOf}, regions));
}

/// Where what the iterations collect is written; the rows' dims are those of the results.
std::vector<Lower::Collected> Lower::collectedBy(const core::LoopView& loop) {
  std::vector<Collected> out;
  for (core::ValueId stack : loop.stackResults()) {
    TypeId type = typeOf(stack);
    for (types::DimId d : types_[type].dims)
      if (!dimInScope(d)) fail("a loop that collects arrays of a size found in its body");
    if (context_.error) return out;
    std::vector<ValueId> extents = dimsOf(type);
    TypeId elem = types_.element(type);
    const Destination* given = destinationOf(stack);
    Destination rows =
        given ? *given : Destination{allocArray(elem, extents, layouts_.stored(elem).counted), {}};
    out.push_back({std::move(rows), denseStrides(extents)[0], given != nullptr});
  }
  return out;
}

/// Row `i` of what is collected becomes a value of the body.
void Lower::storeRow(const Collected& to, ValueId i, core::ValueId v) {
  const Destination row = to.row(i);
  TypeId type = typeOf(v);
  if (types_.kind(type) == TypeKind::Array)
    return copyBetween(densePlace(row, type), densePlace(leaf(v), type), true);
  Place place = memoryPlace(row.base, type);
  place.terms = row.terms;
  place.scale = layouts_.stored(place.type).size;
  storeStored(place, leaves(v), StoreMode::Fresh);
}

/// The body as a region whose parameters are the index and the carries; yields the next carries.
RegionId Lower::forBody(const core::LoopView& loop, const std::vector<ValueType>& params,
                        const std::vector<Collected>& rows) {
  DimScope scope(*this);
  RegionId body = b_.begin(params);
  const std::vector<ValueId>& values = b_.params(body);
  size_t at = 0;
  bind(in_.regions[loop.body()].params, values, at);
  for (types::DimSym d : loop.bodyDims()) defineDim(d, values[at++]);
  for (size_t k = 0; k < rows.size(); ++k)
    writeTo(loop.stackYields()[k], loop.body(), rows[k].row(values[0]));
  lowerOps(loop.body());
  if (context_.error) return body;
  for (size_t k = 0; k < rows.size(); ++k) {
    core::ValueId v = loop.stackYields()[k];
    if (!rep(v).placed) storeRow(rows[k], values[0], v);
  }
  std::vector<ValueId> yields = leavesOf(loop.carryYields());
  for (types::DimId d : yieldOf(loop.body()).dims) yields.push_back(dim(d));
  return b_.end(yields);
}

void Lower::lowerFor(const core::Op& op) {
  const core::LoopView loop(in_, op);
  ValueId zero = b_.integer(0);
  ValueId count = b_.arith(OpKind::Max, leaf(loop.count()), zero);
  if (loop.extent().valid()) defineDim(loop.extent(), count);
  std::vector<ValueId> operands{zero, count};
  for (ValueId v : leavesOf(loop.carryOperands())) operands.push_back(v);
  for (types::DimId d : op.dims) operands.push_back(dim(d));
  std::vector<Collected> rows = collectedBy(loop);
  if (context_.error) return;
  std::vector<ValueType> params{indexType};
  for (ValueType type : leafTypes(loop.carryOperands())) params.push_back(type);
  params.insert(params.end(), loop.bodyDims().size(), indexType);
  RegionId body = forBody(loop, params, rows);
  if (context_.error) return;

  b_.loc = op.loc;
  ForAttr attr;
  attr.polls = nestDepth_ == 0;
  std::vector<ValueType> types(params.begin() + 1, params.end());
  const std::vector<ValueId>& results = b_.results(b_.stmt(StmtKind::For, operands, types, attr, {body}));
  size_t at = 0;
  bind(loop.carryResults(), results, at);
  for (types::DimSym d : loop.resultDims()) defineDim(d, results[at++]);
  for (size_t k = 0; k < rows.size(); ++k)
    defineArray(loop.stackResults()[k], rows[k].rows.base, rows[k].placed);
}

void Lower::lowerWhile(const core::Op& op) {
  std::vector<ValueId> operands = leavesOf(op.operands);
  for (types::DimId d : op.dims) operands.push_back(dim(d));
  std::vector<ValueType> types;
  for (ValueId v : operands) types.push_back(b_.fn.typeOf(v));
  std::vector<RegionId> regions;
  for (core::RegionId r : op.regions) {
    const core::Region& region = in_.regions[r];
    DimScope scope(*this);
    RegionId made = b_.begin(types);
    const std::vector<ValueId>& values = b_.params(made);
    size_t at = 0;
    bind(region.params, values, at);
    for (types::DimSym d : region.dimParams) defineDim(d, values[at++]);
    std::vector<ValueId> yields = lowerRegion(r);
    regions.push_back(b_.end(yields));
  }
  b_.loc = op.loc;
  bindResults(op, b_.stmt(StmtKind::While, operands, resultTypes(op), {}, regions));
}

} // namespace melix::loops
