#include "transforms/batch/merged_rows.h"

#include "core/ir/nest.h"
#include "core/order/clone.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/distribute_nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

bool collectsInOrder(const NestPart& part) {
  return part.spec->kind == NestResultKind::Collect && std::ranges::is_sorted(part.spec->keep);
}

} // namespace

MergedRows::MergedRows(Module& m, FunctionId f, OpId nest, const Effects& effects, const Costs& costs)
    : m_(m), f_(f), nest_(nest) {
  const RegionId body = fn().ops[nest].regions[0];
  auto isCheap = [&](OpId id) {
    const Op& op = fn().ops[id];
    return op.kind == OpKind::Yield ||
           (op.regions.empty() && op.resultDims.empty() && op.kind != OpKind::Call &&
            !isExpensive(costs.ofOp(id)) && !effects.ofOp(fn(), id).any());
  };
  const std::vector<OpId>& ops = fn().regions[body].ops;
  const auto first = std::ranges::find(ops, OpKind::Nest, [&](OpId id) { return fn().ops[id].kind; });
  if (first == ops.end()) return;
  inner_ = *first;
  const bool isAlone = std::ranges::all_of(ops, [&](OpId id) { return id == inner_ || isCheap(id); });
  if (!isAlone || !knowsSizes(m, fn(), body, inner_, {}) || !givesInner()) inner_ = {};
}

/// Whether the nest gives the results of the inner one, and these alone.
bool MergedRows::givesInner() const {
  const NestView outer(fn(), fn().ops[nest_]), inner(fn(), fn().ops[inner_]);
  auto isInner = [&](ValueId v) { return fn().values[v].def == inner_; };
  auto isOwn = [&](ValueId v) { return std::ranges::find(outer.accParams(), v) != outer.accParams().end(); };
  return fn().ops[inner_].resultDims.empty() && outer.accs() == inner.accs() &&
         std::ranges::all_of(outer.parts(), collectsInOrder) &&
         std::ranges::all_of(inner.parts(), collectsInOrder) &&
         std::ranges::all_of(outer.yields(), isInner) && std::ranges::all_of(inner.accOperands(), isOwn);
}

OpId MergedRows::merge(Builder& b) const {
  const Op outer = fn().ops[nest_], inner = fn().ops[inner_];
  const std::vector<OpId> ops = fn().regions[outer.regions[0]].ops;
  const std::vector<ValueId> outerParams = fn().regions[outer.regions[0]].params,
                             innerParams = fn().regions[inner.regions[0]].params,
                             outerYields(NestView(fn(), outer).yields().begin(),
                                         NestView(fn(), outer).yields().end());
  NestBuilder made(b);
  Cloner copy(m_, f_, f_);
  auto enter = [&](const Op& nest, const std::vector<ValueId>& params) {
    const std::vector<ValueId> axes = made.openAxes(nest.dims);
    for (size_t k = 0; k < axes.size(); ++k) copy.values[params[k]] = axes[k];
  };
  enter(outer, outerParams);
  enter(inner, innerParams);
  for (uint32_t k = 0; k < nestAccs(outer); ++k)
    copy.values[outerParams[outer.dims.size() + k]] = made.accumulator(outer.operands[k]);
  Builder in = b.in(made.body());
  for (OpId id : ops)
    if (id != inner_ && fn().ops[id].kind != OpKind::Yield) copy.op(id, in);
  for (uint32_t k = 0; k < nestAccs(inner); ++k)
    copy.values[innerParams[inner.dims.size() + k]] = copy.value(inner.operands[k]);
  const std::vector<ValueId> yields = copy.body(inner.regions[0], in).values;
  for (size_t k = 0; k < outerYields.size(); ++k) {
    const ValueId v = yields[fn().values[outerYields[k]].index];
    if (k < outerYields.size() - nestAccs(outer))
      made.collect(v);
    else
      made.end(v);
  }
  const OpId id = made.finish();
  takeOver(fn(), id, std::vector<ValueId>(outer.results.begin(), outer.results.end()));
  return id;
}

} // namespace melix::transforms
