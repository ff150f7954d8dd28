#include "transforms/fusion/fission_checked_sums.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class CheckedSumFission {
public:
  CheckedSumFission(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), costs_(m, m.functions[f]) {}

  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      if (fn().ops[id].kind != OpKind::Nest) {
        const Regions regions = fn().ops[id].regions;
        for (RegionId inner : regions) run(inner);
        return true;
      }
      const std::vector<OpId> sums = checkedSums(id);
      if (sums.empty() || !sidesOf(m_, fn(), id).areTwo()) return true;
      separate(id, sums, region);
      return false;
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  static bool collectsAll(const Op& nest) {
    return nest.dims.size() > 1 && nest.dims.size() <= AxisSet::most && nestAccs(nest) == 0 &&
           std::ranges::all_of(nestResults(nest),
                               [](const NestResult& r) { return r.kind == NestResultKind::Collect; });
  }

  /// Sums of the body with no effect before them, and one after that depends on them.
  std::vector<OpId> checkedSums(OpId nest) const {
    if (!collectsAll(fn().ops[nest])) return {};
    const std::vector<OpId>& ops = fn().regions[fn().ops[nest].regions[0]].ops;
    const auto effect = std::ranges::find_if(ops, [&](OpId id) { return effects_.ofOp(fn(), id).any(); });
    if (effect == ops.end()) return {};
    const AxisVariance body(m_, f_, nest, effects_);
    std::vector<OpId> out;
    for (auto at = ops.begin(); at != effect; ++at)
      if (isSum(fn().ops[*at]) && body.axesOf(*at) &&
          isChecked(fn().ops[*at].results[0], std::span(at + 1, ops.end())))
        out.push_back(*at);
    return out;
  }
  bool isSum(const Op& op) const {
    return op.kind == OpKind::Nest && op.results.size() == 1 && m_.types.isScalar(fn().typeOf(op.results[0]));
  }
  /// Whether something among the ops has an effect and depends on the value.
  bool isChecked(ValueId v, std::span<const OpId> ops) const {
    std::unordered_set<ValueId> dependent{v};
    auto depends = [&](OpId id) {
      return std::ranges::any_of(fn().ops[id].operands, [&](ValueId o) { return dependent.contains(o); });
    };
    for (OpId id : ops) {
      bool is = depends(id);
      for (RegionId r : fn().ops[id].regions)
        forEachOp(fn(), r, [&](OpId inner) { is = is || depends(inner); });
      if (!is) continue;
      if (effects_.ofOp(fn(), id).any()) return true;
      dependent.insert(fn().ops[id].results.begin(), fn().ops[id].results.end());
    }
    return false;
  }

  void separate(OpId id, const std::vector<OpId>& sums, RegionId region) {
    Cut cut{AxisSet::first(fn().ops[id].dims.size()), {}, {}};
    for (OpId sum : sums) cut.live.push_back(fn().ops[sum].results[0]);
    cut.ops = AxisVariance(m_, f_, id, effects_).slice(cut.live);
    Builder b(m_, f_, region, fn().ops[id].loc);
    distribute(b, id, cut);
    fn().regions[region].ops.push_back(id);
    changed = true;
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Costs costs_;
};

} // namespace

void fissionCheckedSums(Module& m) {
  require(m, {State::DerivativesGone});
  const Effects effects(m);
  changeBodies(m, [&](FunctionId f) {
    CheckedSumFission s(m, f, effects);
    s.run(m.functions[f].body);
    if (s.changed) eliminateDeadValues(m, f, effects);
    return s.changed;
  });
}

} // namespace melix::transforms
