#include "core/ir/nest.h"

#include "core/ir/nest_results.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"

namespace melix::core {

NestResult collecting(size_t axes) {
  NestResult all;
  for (uint32_t a = 0; a < axes; ++a) all.keep.push_back(a);
  return all;
}

NestResult reducing(MonoidKind monoid, std::vector<uint32_t> keep) {
  NestResult combined;
  combined.kind = NestResultKind::Reduce;
  combined.monoid = monoid;
  combined.keep = std::move(keep);
  return combined;
}

NestResult filtering() {
  NestResult passed;
  passed.kind = NestResultKind::Filter;
  return passed;
}

TypeId nestResultType(types::TypeStore& types, const NestResult& r, std::span<const DimId> axes,
                      TypeId yielded, DimSym size) {
  if (r.kind == NestResultKind::Filter) return types.array(yielded, {types.dims.symbol(size)});
  std::vector<DimId> kept;
  for (uint32_t a : r.keep) kept.push_back(axes[a]);
  return types.array(isPosition(r) ? types.int64() : yielded, kept);
}

std::optional<NestAxis> axisOf(const Function& f, ValueId v) {
  const Value& value = f.values[v];
  const OpId around = value.def.valid() || !value.region.valid() ? OpId() : f.regions[value.region].parent;
  if (!around.valid() || f.ops[around].kind != OpKind::Nest) return std::nullopt;
  const Op& nest = f.ops[around];
  const bool is = nest.regions[0] == value.region && value.index < nest.dims.size();
  return is ? std::optional(NestAxis{around, value.index}) : std::nullopt;
}

void dropAxis(Function& f, LiveUses& uses, OpId nest, uint32_t axis, ValueId by) {
  Op& op = f.ops[nest];
  std::vector<ValueId>& params = f.regions[op.regions[0]].params;
  uses.replace(params[axis], by);
  params.erase(params.begin() + axis);
  for (uint32_t k = axis; k < params.size(); ++k) f.values[params[k]].index = k;
  op.dims.erase(op.dims.begin() + axis);
  for (NestResult& r : op.as<NestAttr>().results)
    for (uint32_t& kept : r.keep) kept -= kept > axis;
}

std::vector<ValueId> collectMore(Module& m, Function& f, LiveUses& uses, OpId id,
                                 std::span<const ValueId> values) {
  std::vector<ValueId> more;
  Op& op = f.ops[id];
  auto& attr = op.as<NestAttr>();
  for (ValueId v : values) {
    attr.results.push_back(collecting(op.dims.size()));
    more.push_back(
        f.values.add(Value{m.types.array(f.typeOf(v), std::vector<DimId>(op.dims)), id, {}, 0, {}}));
  }
  const auto accs = static_cast<long>(attr.accs);
  op.results.insert(op.results.end() - accs, more.begin(), more.end());
  for (uint32_t k = 0; k < op.results.size(); ++k) f.values[op.results[k]].index = k;
  uses.change(terminatorId(f, op.regions[0]), [&](Op& yield) {
    yield.operands.insert(yield.operands.end() - accs, values.begin(), values.end());
  });
  return more;
}

static void addResultValues(Function& f, OpId id, NestResult spec, std::span<const ValueId> values) {
  Op& op = f.ops[id];
  assert(!isCombine(spec) && "units have places of their own");
  op.as<NestAttr>().results.push_back(std::move(spec));
  op.results.insert(op.results.end() - nestAccs(op), values.begin(), values.end());
  for (ValueId v : values) f.values[v].def = id;
  for (uint32_t k = 0; k < op.results.size(); ++k) f.values[op.results[k]].index = k;
}

void addResult(Function& f, LiveUses& uses, OpId id, NestResult spec, ValueId yielded,
               std::span<const ValueId> values) {
  addResultValues(f, id, std::move(spec), values);
  const uint32_t accs = nestAccs(f.ops[id]);
  uses.change(terminatorId(f, f.ops[id].regions[0]),
              [&](Op& yield) { yield.operands.insert(yield.operands.end() - accs, yielded); });
}

void addResult(Function& f, OpId id, NestResult spec, ValueId yielded, std::span<const ValueId> values) {
  addResultValues(f, id, std::move(spec), values);
  Operands& yields = f.ops[terminatorId(f, f.ops[id].regions[0])].operands;
  yields.insert(yields.end() - nestAccs(f.ops[id]), yielded);
}

void replaceResults(Op& nest, std::vector<NestResult> results, size_t accs) {
  nest.attr = NestAttr{std::move(results), static_cast<uint32_t>(accs)};
}

NestView::NestView(const Function& f, const Op& op) : op_(op) {
  uint32_t filters = 0;
  if (!op.regions.empty() && !f.regions[body()].ops.empty()) { // else the verifier says so
    params_ = f.regions[body()].params;
    yields_ = f.ops[f.regions[body()].ops.back()].operands;
  }
  for (const NestResult& r : nestResults(op)) {
    const auto number = static_cast<uint32_t>(parts_.size());
    NestPart part{number,
                  &r,
                  {partYields_, yieldsOf(r)},
                  {partResults_, resultsOf(r, axes())},
                  {accs() + partUnits_, isCombine(r) ? r.yields : 0},
                  filters};
    filters += r.kind == NestResultKind::Filter;
    partYields_ += part.yields.count;
    partResults_ += part.results.count;
    partUnits_ += part.units.count;
    parts_.push_back(part);
  }
}

ValueId NestBuilder::axis(DimId extent, NameId hint) {
  assert(begun_.empty() && "axes come before accumulators");
  axes_.push_back(extent);
  return at_.in(body_).param(at_.types().int64(), hint);
}

std::vector<ValueId> NestBuilder::openAxes(std::span<const DimId> extents) {
  std::vector<ValueId> params;
  for (DimId d : extents) params.push_back(axis(d));
  return params;
}

void NestBuilder::accumulator(ValueId begun, ValueId param) {
  begun_.push_back(begun);
  at_.in(body_).defineParam(param);
}

ValueId NestBuilder::accumulator(ValueId begun, NameId hint) {
  begun_.push_back(begun);
  const TypeId t = at_.typeOf(begun);
  return at_.in(body_).param(at_.types().kind(t) == TypeKind::Acc ? t : at_.types().acc(t), hint);
}

uint32_t NestBuilder::add(NestResult spec, std::span<const ValueId> yields, const NestOwn& own) {
  const uint32_t first = results();
  yields_.insert(yields_.end(), yields.begin(), yields.end());
  if (own.size.valid()) sizes_.push_back(own.size);
  units_.insert(units_.end(), own.units.begin(), own.units.end());
  if (own.combine.valid()) {
    combines_.push_back(own.combine);
    spec.combineRegion = static_cast<uint32_t>(combines_.size());
  }
  for (uint32_t k = 0, n = resultsOf(spec, axes_.size()); k < n; ++k) {
    const ValueId yielded = yieldedFor(spec, yields, k);
    types_.push_back(nestResultType(at_.types(), spec, axes_, at_.typeOf(yielded), own.size));
  }
  specs_.push_back(std::move(spec));
  return first;
}

uint32_t NestBuilder::end(ValueId acc) {
  yields_.push_back(acc);
  types_.push_back(at_.typeOf(begun_[ended_++]));
  return results() - 1;
}

OpId NestBuilder::finish() {
  assert(ended_ == begun_.size() && "every accumulator ends");
  Function& f = at_.fn();
  if (!f.regions[body_].ops.empty() && terminator(f, body_).kind == OpKind::Yield)
    f.ops[terminatorId(f, body_)].operands = std::move(yields_);
  else
    at_.in(body_).yield(std::move(yields_));
  begun_.insert(begun_.end(), units_.begin(), units_.end());
  Op op = Builder::simple(OpKind::Nest, std::move(begun_), NestAttr{std::move(specs_), ended_});
  op.dims = std::move(axes_);
  op.resultDims = std::move(sizes_);
  op.regions = std::move(combines_);
  op.regions.insert(op.regions.begin(), body_);
  return at_.append(std::move(op), types_);
}

} // namespace melix::core
