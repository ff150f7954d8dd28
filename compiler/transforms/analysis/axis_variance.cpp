#include "transforms/analysis/axis_variance.h"

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

AxisVariance::AxisVariance(Module& m, FunctionId f, OpId sweep, const Effects& effects, OwnSizes sizes)
    : m_(m), f_(f), body_(fn().ops[sweep].regions[0]),
      axes_(fn().ops[sweep].kind == OpKind::For ? 1 : fn().ops[sweep].dims.size()) {
  assert(axes_ <= AxisSet::most);
  const Region& region = fn().regions[body_];
  for (DimSym s : region.dimParams) sizes_[s] = OpId();
  for (OpId id : region.ops)
    for (DimSym s : fn().ops[id].resultDims) sizes_[s] = id;
  for (uint32_t k = 0; k < region.ops.size(); ++k)
    made_[region.ops[k]] = isCopied(region.ops[k], effects, sizes) ? make(region.ops[k], k) : std::nullopt;
}

bool AxisVariance::isCopied(OpId id, const Effects& effects, OwnSizes sizes) const {
  const Op& op = fn().ops[id];
  if (op.kind == OpKind::Yield || op.kind == OpKind::Undef) return false;
  if (!op.resultDims.empty() && sizes == OwnSizes::Stay) return false;
  for (ValueId v : op.results)
    if (m_.types.kind(fn().typeOf(v)) == TypeKind::Acc) return false;
  return !effects.ofOp(fn(), id).any();
}

std::optional<AxisVariance::Made> AxisVariance::make(OpId id, uint32_t position) const {
  Made made;
  made.position = position;
  bool may = look(fn().ops[id], made);
  for (RegionId r : fn().ops[id].regions)
    forEachOp(fn(), r, [&](OpId inner) { may = may && look(fn().ops[inner], made); });
  if (!may) return std::nullopt;
  std::ranges::sort(made.operands);
  const auto same = std::ranges::unique(made.operands);
  made.operands.erase(same.begin(), same.end());
  return made;
}

bool AxisVariance::look(const Op& op, Made& made) const {
  if (!lookAtSizes(op, made)) return false;
  const bool indexed = op.kind == OpKind::Set || op.kind == OpKind::AddAt || isMatchOfEnum(m_, fn(), op) ||
                       op.kind == OpKind::Length;
  made.within = made.within && !indexed && (op.kind != OpKind::Get || isIndexedByAxes(op));
  return std::ranges::all_of(op.operands, [&](ValueId v) { return lookAt(v, made); });
}

bool AxisVariance::lookAt(ValueId v, Made& made) const {
  const Value& value = fn().values[v];
  if (value.region == body_ && !value.def.valid()) {
    if (value.index >= axes_) return false;
    made.axes |= AxisSet::of(value.index);
    return true;
  }
  auto by = made_.find(value.def);
  if (!value.def.valid() || by == made_.end()) return true;
  if (!by->second) return false;
  made.axes |= by->second->axes;
  made.within = made.within && by->second->within;
  made.operands.push_back(value.def);
  return true;
}

/// Sizes that the body defines come from copied ops, or from the op itself.
bool AxisVariance::lookAtSizes(const Op& op, Made& made) const {
  if (sizes_.empty()) return true;
  return std::ranges::all_of(sizesOf(m_, fn(), op), [&](DimSym s) {
    const auto size = sizes_.find(s);
    if (size == sizes_.end() || std::ranges::find(op.resultDims, s) != op.resultDims.end()) return true;
    const auto by = made_.find(size->second);
    if (by == made_.end() || !by->second) return false;
    made.axes |= by->second->axes;
    made.within = made.within && by->second->within;
    made.operands.push_back(size->second);
    return true;
  });
}

/// A read without indices is one too.
bool AxisVariance::isIndexedByAxes(const Op& op) const {
  const Path& path = op.as<Path>();
  if (pathOperands(path) == 0) return true;
  const types::Type& array = m_.types[fn().typeOf(op.operands[0])];
  if (array.kind != TypeKind::Array) return false;
  for (size_t k = 0; k < path.size(); ++k) {
    if (path[k].kind == StepKind::All) continue;
    if (path[k].kind != StepKind::Index || k >= array.dims.size() || pathOperands(path) != path.size())
      return false;
    const Value& v = fn().values[op.operands[k + 1]];
    if (!v.region.valid() || !fn().regions[v.region].parent.valid()) return false;
    const Op& nest = fn().ops[fn().regions[v.region].parent];
    if (nest.kind != OpKind::Nest || v.index >= nest.dims.size() || nest.dims[v.index] != array.dims[k])
      return false;
  }
  return true;
}

std::optional<AxisSet> AxisVariance::axesOf(ValueId v) const {
  Made alone;
  if (!lookAt(v, alone)) return std::nullopt;
  return alone.axes;
}

bool AxisVariance::readsWithin(ValueId v) const {
  Made alone;
  return lookAt(v, alone) && alone.within;
}

std::optional<AxisSet> AxisVariance::axesOf(OpId op) const {
  const std::optional<Made>& made = made_.at(op);
  return made ? std::optional(made->axes) : std::nullopt;
}

bool AxisVariance::readsWithin(OpId op) const {
  const std::optional<Made>& made = made_.at(op);
  return made && made->within;
}

void AxisVariance::replaceByRead(OpId op, OpId read) {
  Made made = *made_.at(op);
  made.operands.clear();
  made.within = true;
  made_[read] = std::move(made);
}

std::vector<OpId> AxisVariance::slice(std::span<const ValueId> values) const {
  std::vector<OpId> out;
  std::unordered_set<OpId> seen;
  auto take = [&](OpId id) {
    if (id.valid() && made_.contains(id) && seen.insert(id).second) out.push_back(id);
  };
  for (ValueId v : values) take(fn().values[v].def);
  for (size_t k = 0; k < out.size(); ++k)
    for (OpId by : made_.at(out[k])->operands) take(by);
  std::ranges::sort(out, {}, [&](OpId id) { return made_.at(id)->position; });
  work.ops += out.size();
  return out;
}

bool isOfNumbers(const types::TypeStore& types, TypeId type) {
  return types.isScalar(types.kind(type) == TypeKind::Array ? types.element(type) : type);
}

std::vector<ValueId> openAxes(NestBuilder& made, Cloner& copy, const Function& f, const Op& nest,
                              AxisSet axes) {
  std::vector<ValueId> originals;
  const std::vector<ValueId>& params = f.regions[nest.regions[0]].params;
  for (uint32_t a = 0; a < nest.dims.size(); ++a) {
    if (!axes.contains(a)) continue;
    copy.values[params[a]] = made.axis(nest.dims[a], f.values[params[a]].hint);
    originals.push_back(params[a]);
  }
  return originals;
}

} // namespace melix::transforms
