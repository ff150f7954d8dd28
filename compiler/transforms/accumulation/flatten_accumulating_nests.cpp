#include "transforms/accumulation/flatten_accumulating_nests.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/accumulation/gather_plan.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class AccumulatingNestFlattener {
public:
  AccumulatingNestFlattener(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects) {}

  bool changed = false;

  /// What a nest does beside adds is collected once it is one with those that do nothing else.
  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      OpId now = id;
      while (isAdding(now) && mayMerge(now)) now = merge(now, region);
      const Regions regions = fn().ops[now].regions;
      for (RegionId inner : regions) run(inner);
      if (isAdding(now) && collectBefore(now, region)) return false;
      if (now != id) fn().regions[region].ops.push_back(now);
      return now == id;
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  bool isAdding(OpId id) const { return fn().ops[id].kind == OpKind::Nest && nestAccs(fn().ops[id]) > 0; }
  const std::vector<OpId>& bodyOf(OpId nest) const { return fn().regions[fn().ops[nest].regions[0]].ops; }
  OpId innerOf(OpId nest) const { return bodyOf(nest).end()[-2]; }

  bool mayMerge(OpId outer) const {
    const std::vector<OpId>& ops = bodyOf(outer);
    if (ops.size() < 2 || fn().ops[innerOf(outer)].kind != OpKind::Nest) return false;
    const NestView around(fn(), fn().ops[outer]), in(fn(), fn().ops[innerOf(outer)]);
    return around.accs() == in.accs() && around.parts().empty() && in.parts().empty() &&
           std::ranges::equal(around.accParams(), in.accOperands()) &&
           std::ranges::equal(around.accYields(), in.accResults()) &&
           std::all_of(ops.begin(), ops.end() - 2, [&](OpId id) { return isRead(fn().ops[id]); });
  }
  /// What may be computed at each point of the inner nest, and is not, where that has none.
  static bool isRead(const Op& op) {
    return (op.kind == OpKind::Const || op.kind == OpKind::DimValue || op.kind == OpKind::Get ||
            op.kind == OpKind::CastDims) &&
           op.resultDims.empty();
  }
  /// Gives the nest that both are, which stands in no list yet.
  OpId merge(OpId outerId, RegionId region) {
    const OpId innerId = innerOf(outerId);
    Builder b(m_, f_, region, fn().ops[innerId].loc);
    NestBuilder made(b);
    Cloner copy(m_, f_, f_);
    const NestView around(fn(), fn().ops[outerId]), in(fn(), fn().ops[innerId]);
    std::vector<ValueId> old(around.accResults().begin(), around.accResults().end());
    auto open = [&](const NestView& nest, OpId id) {
      for (uint32_t a = 0; a < nest.axes(); ++a)
        copy.values[nest.axisParams()[a]] =
            made.axis(fn().ops[id].dims[a], fn().values[nest.axisParams()[a]].hint);
    };
    open(around, outerId);
    open(in, innerId);
    for (uint32_t k = 0; k < in.accs(); ++k)
      copy.values[in.accParams()[k]] =
          made.accumulator(around.accOperands()[k], fn().values[in.accParams()[k]].hint);
    const RegionId inner = in.body();
    Builder body = b.in(made.body());
    const std::vector<OpId> front(bodyOf(outerId).begin(), bodyOf(outerId).end() - 2);
    for (OpId id : front) copy.op(id, body);
    for (ValueId acc : copy.body(inner, body).values) made.end(acc);
    const OpId both = made.finish();
    takeOver(fn(), both, old);
    fn().regions[region].ops.pop_back();
    changed = true;
    return both;
  }

  // --- what stands beside adds

  /// Of a nest in another: whether it made anything, which is collected before it then.
  bool collectBefore(OpId id, RegionId region) {
    const OpId around = fn().regions[region].parent;
    const size_t axes = fn().ops[id].dims.size();
    if (!around.valid() || fn().ops[around].kind != OpKind::Nest || axes == 0 || axes > AxisSet::most)
      return false;
    // What is made could stand after a check that guards what it reads.
    if (std::ranges::any_of(bodyOf(id), [&](OpId op) { return effects_.ofOp(fn(), op).any(); })) return false;
    const AxisVariance body(m_, f_, id, effects_);
    const std::vector<ValueId> live = definedWith(id, body);
    if (live.empty()) return false;
    Builder b(m_, f_, region, fn().ops[id].loc);
    distribute(b, id, {AxisSet::first(axes), body.slice(live), live});
    fn().regions[region].ops.push_back(id);
    return changed = true;
  }
  /// What ops with regions give to those that hand accumulators on, if these are numbers: not rows that are
  /// recomputed.
  std::vector<ValueId> definedWith(OpId nest, const AxisVariance& body) const {
    std::unordered_set<OpId> makers;
    const std::unordered_set<OpId> here(bodyOf(nest).begin(), bodyOf(nest).end());
    for (OpId id : bodyOf(nest))
      if (!fn().ops[id].regions.empty() && body.axesOf(id) && !isSoonMadeRow(m_.types, fn(), fn().ops[id]) &&
          std::ranges::all_of(fn().ops[id].results,
                              [&](ValueId v) { return isOfNumbers(m_.types, fn().typeOf(v)); }))
        makers.insert(id);
    std::vector<ValueId> out, open;
    for (OpId id : bodyOf(nest))
      if (isHandedOn(id))
        for (RegionId r : fn().ops[id].regions)
          forEachOp(fn(), r, [&](OpId inner) {
            open.insert(open.end(), fn().ops[inner].operands.begin(), fn().ops[inner].operands.end());
          });
    std::unordered_set<OpId> seen;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const OpId def = fn().values[v].def;
      if (!def.valid() || !here.contains(def) || !seen.insert(def).second) continue;
      if (makers.contains(def))
        out.insert(out.end(), fn().ops[def].results.begin(), fn().ops[def].results.end());
      else
        open.insert(open.end(), fn().ops[def].operands.begin(), fn().ops[def].operands.end());
    }
    std::ranges::sort(out, {}, [](ValueId v) { return v.index; });
    return out;
  }
  /// Whether an op of the body hands an accumulator to what is inside of it.
  bool isHandedOn(OpId id) const {
    const Op& op = fn().ops[id];
    return !op.regions.empty() && std::ranges::any_of(op.results, [&](ValueId v) {
      return m_.types.kind(fn().typeOf(v)) == TypeKind::Acc;
    });
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
};

} // namespace

bool flattenAccumulatingNests(Module& m) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    AccumulatingNestFlattener merger(m, f, effects);
    merger.run(m.functions[f].body);
    return merger.changed;
  });
}

} // namespace melix::transforms
