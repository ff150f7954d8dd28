#include "transforms/accumulation/gather_support.h"

#include "core/ir/nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

bool maySum(types::DimStore& dims, DimId extent) {
  return !dims.atLeast(dims.sub(dims.constant(1), extent), 0);
}

KeptValues storeValuesForScatter(Module& m, FunctionId f, LiveUses& uses, OpId nest,
                                 std::vector<ValueId> wanted) {
  std::vector<ValueId> once;
  for (ValueId v : wanted)
    if (std::ranges::find(once, v) == once.end()) once.push_back(v);
  const std::vector<ValueId> more = collectMore(m, m.functions[f], uses, nest, once);
  KeptValues out;
  for (size_t k = 0; k < once.size(); ++k) out[once[k]] = more[k];
  return out;
}

void readKept(const Function& f, OpId nest, std::span<const ValueId> values, const KeptValues& kept,
              Cloner& map, Emit& b) {
  const std::span<const ValueId> params = NestView(f, f.ops[nest]).axisParams();
  const std::vector<ValueId> axes(params.begin(), params.end());
  for (ValueId v : values) {
    std::vector<ValueId> at;
    for (ValueId axis : axes) at.push_back(map.value(axis));
    map.values[v] = at.empty() ? kept.at(v) : b.getAt(kept.at(v), at, f.typeOf(v));
  }
}

ValueId materialiseBranchPath(Emit& b, const SiteLevel& arm, ValueId condition, RegionId taken,
                              RegionId other, TypeId type) {
  Op op = Emit::simple(OpKind::If, {condition});
  op.regions = {taken, other};
  if (arm.arm == 1) std::swap(op.regions[0], op.regions[1]);
  return b.one(std::move(op), type);
}

bool replaceAccumulators(Module& m, FunctionId f, const Effects& effects, LiveUses& uses, OpId nest,
                         RegionId region, std::span<const std::pair<uint32_t, ValueId>> by) {
  Function& fn = m.functions[f];
  std::vector<std::pair<ValueId, ValueId>> totals;
  std::vector<uint32_t> gone;
  for (auto [k, total] : by) {
    totals.emplace_back(NestView(fn, fn.ops[nest]).accResults()[k], total);
    gone.push_back(k);
  }
  removeAccumulators(m, f, effects, uses, nest, gone);
  const bool stays = !fn.ops[nest].results.empty() || effects.ofOp(fn, nest).any();
  if (!stays) uses.leave(nest);
  for (OpId made : fn.regions[region].ops) uses.enter(made, region);
  for (auto [before, after] : totals) uses.replace(before, after);
  return stays;
}

} // namespace melix::transforms
