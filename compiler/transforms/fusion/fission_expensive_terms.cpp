#include "transforms/fusion/fission_expensive_terms.h"

#include "core/ir/flow.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class ExpensiveTermFission {
public:
  ExpensiveTermFission(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), costs_(m, m.functions[f]) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const bool isNest = fn().ops[id].kind == OpKind::Nest;
      if (isNest && isWanted(id)) return separate(id, region), false;
      if (!isNest)
        for (RegionId inner : fn().ops[id].regions) run(inner);
      return true;
    });
  }

  /// What results that went stand for.
  std::vector<std::pair<ValueId, ValueId>> replaced;

private:
  Function& fn() const { return m_.functions[f_]; }

  bool isWanted(OpId id) const {
    const Op& op = fn().ops[id];
    const NestView nest(fn(), op);
    if (nest.accs() > 0 || op.dims.empty()) return false;
    bool ends = false;
    for (const NestPart& part : nest.parts()) {
      if (part.spec->kind == NestResultKind::Collect) continue;
      ends = true;
      if (part.spec->kind == NestResultKind::Reduce && !part.spec->keep.empty()) return false;
      for (ValueId v : nest.yields(part))
        if (!m_.types.isScalar(fn().typeOf(v))) return false;
      if (isCombine(*part.spec))
        for (OpId inner : fn().regions[nest.combine(part)].ops)
          if (effects_.ofOp(fn(), inner).any()) return false;
    }
    return ends && mayBeArray(op) && (costs_.ofRegion(nest.body()).unbounded || isOfProducts(id));
  }
  /// Whether a point sums products, of which a tile computes those of many, and reads a number that no other
  /// does: what is collected is no more than what is read.
  bool isOfProducts(OpId id) const {
    const Op& nest = fn().ops[id];
    const RegionId body = nest.regions[0];
    const std::span<const ValueId> axes = std::span(fn().regions[body].params).first(nest.dims.size());
    const bool readsItsOwn = std::ranges::any_of(fn().regions[body].ops, [&](OpId inner) {
      const Op& op = fn().ops[inner];
      return op.kind == OpKind::Get && std::ranges::all_of(axes, [&](ValueId axis) {
               return std::ranges::find(op.operands, axis) != op.operands.end();
             });
    });
    if (!readsItsOwn) return false;
    return sidesOf(m_, fn(), id).areTwo();
  }
  /// A nest that collects nothing may have more points than an array has elements.
  bool mayBeArray(const Op& nest) const {
    const std::optional<int64_t> points = m_.types.dims.asConstant(m_.types.dims.product(nest.dims));
    return nest.dims.size() <= AxisSet::most && (!points || *points <= types::maxExtent) &&
           !m_.types.dims.isTooLarge(m_.types.dims.product(nest.dims));
  }

  /// All that the body makes for its results is collected before, each value once.
  void separate(OpId id, RegionId region) {
    const Op& nest = fn().ops[id];
    const std::vector<OpId>& ops = fn().regions[nest.regions[0]].ops;
    Cut cut{AxisSet::first(nest.dims.size()), {ops.begin(), ops.end() - 1}, {}, true};
    const std::unordered_set<OpId> made(cut.ops.begin(), cut.ops.end());
    std::unordered_map<ValueId, uint32_t> number;
    for (ValueId v : NestView(fn(), nest).yields())
      if (made.contains(fn().values[v].def) && number.try_emplace(v, cut.live.size()).second)
        cut.live.push_back(v);
    Builder b(m_, f_, region, nest.loc);
    const std::vector<ValueId> arrays = distribute(b, id, cut);
    fn().regions[region].ops.push_back(id);
    dropCollected(id, number, arrays);
  }
  /// What the nest collects of these values, in the order of its axes, is what was collected before.
  void dropCollected(OpId id, const std::unordered_map<ValueId, uint32_t>& number,
                     const std::vector<ValueId>& arrays) {
    std::vector<bool> gone;
    const NestView view(fn(), fn().ops[id]);
    const std::vector<uint32_t> all = collecting(view.axes()).keep;
    for (const NestPart& part : view.parts()) {
      auto it = number.find(view.yields(part)[0]);
      const bool collects = part.spec->kind == NestResultKind::Collect && part.spec->keep == all;
      gone.push_back(collects && it != number.end());
      if (gone.back()) replaced.emplace_back(view.results(part)[0], arrays[it->second]);
    }
    removeSlots(fn(), id, gone);
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Costs costs_;
};

} // namespace

void fissionExpensiveTerms(Module& m) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  Effects effects(m);
  changeBodies(m, [&](FunctionId f) {
    ExpensiveTermFission s(m, f, effects);
    s.run(m.functions[f].body);
    if (s.replaced.empty()) return false;
    LiveUses uses(m, f);
    for (auto [v, by] : s.replaced) uses.replace(v, by);
    return true;
  });
}

} // namespace melix::transforms
