#include "transforms/batch/row_checks.h"

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"
#include "transforms/analysis/axis_variance.h"
#include "transforms/analysis/cost_model.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

RowChecks::RowChecks(Module& m, FunctionId f, OpId nest, const Costs& costs,
                     FunctionRef<bool(OpId)> hasEffect)
    : m_(m), f_(f), nest_(nest), obstacle_(find(costs, hasEffect)) {}

OpId RowChecks::find(const Costs& costs, FunctionRef<bool(OpId)> hasEffect) {
  const std::vector<OpId>& ops = fn().regions[fn().ops[nest_].regions[0]].ops;
  const std::unordered_set<OpId> own(ops.begin(), ops.end());
  std::unordered_set<DimSym> sizes;
  for (OpId id : ops) sizes.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
  auto isOutside = [&](DimSym s) { return !sizes.contains(s); };
  auto take = [&](auto& self, OpId id) -> bool {
    const Op& op = fn().ops[id];
    if (!ops_.insert(id).second) return true;
    if (!op.regions.empty() || op.kind == OpKind::Call || isExpensive(costs.ofOp(id)) ||
        !std::ranges::all_of(sizesOf(m_, fn(), op), isOutside))
      return false;
    return std::ranges::all_of(op.operands, [&](ValueId v) {
      const OpId def = fn().values[v].def;
      return !def.valid() || !own.contains(def) || self(self, def);
    });
  };
  for (OpId id : ops)
    if (hasEffect(id) && (fn().ops[id].kind != OpKind::Check || !take(take, id))) return id;
  return {};
}

void RowChecks::move(Builder& b) {
  if (ops_.empty()) return;
  const RegionId body = fn().ops[nest_].regions[0];
  NestBuilder made(b);
  Cloner copy(m_, f_, f_);
  openAxes(made, copy, fn(), fn().ops[nest_], AxisSet::first(fn().ops[nest_].dims.size()));
  Builder in = b.in(made.body());
  for (OpId id : std::vector<OpId>(fn().regions[body].ops))
    if (ops_.contains(id)) copy.op(id, in);
  made.finish();
  std::erase_if(fn().regions[body].ops, [&](OpId id) { return fn().ops[id].kind == OpKind::Check; });
}

} // namespace melix::transforms
