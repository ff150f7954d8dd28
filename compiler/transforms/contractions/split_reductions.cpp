#include "transforms/contractions/split_reductions.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/analysis/axis_variance.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/canonical/flatten_perfect_nests.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class RowSums {
public:
  RowSums(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), costs_(m, m.functions[f]) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner);
      if (const std::vector<OpId> sums = sumsWithOtherResults(id); !sums.empty()) {
        split(id, sums, region);
        return false;
      }
      const std::vector<uint32_t> rows = rowsOf(id);
      if (rows.empty()) return true;
      byRows(id, rows, region);
      return false;
    });
  }

  bool changed = false;

private:
  Function& fn() const { return m_.functions[f_]; }

  /// The axes that are kept at first: those of the side of the outermost one, and those of none.
  std::vector<uint32_t> rowsOf(OpId id) const {
    const Op& nest = fn().ops[id];
    if (!reducesAll(nest) || !holdsSum(nest)) return {};
    const Sides sides = sidesOf(m_, fn(), id);
    if (!sides.areTwo()) return {};
    const uint64_t reduced = sides.axes((sides.axes(0) & 1) != 0 ? 1 : 0);
    std::vector<uint32_t> out;
    for (uint32_t a = 0; a < nest.dims.size(); ++a)
      if ((reduced >> a & 1) == 0) out.push_back(a);
    return out;
  }
  /// Numbers that a point reduces of sums, in a nest that collects, beside other sweeps.
  std::vector<OpId> sumsWithOtherResults(OpId id) const {
    const Op& nest = fn().ops[id];
    if (nest.kind != OpKind::Nest || nest.dims.empty() || nest.dims.size() > AxisSet::most ||
        nestAccs(nest) != 0)
      return {};
    const auto collects = [](const NestResult& r) { return r.kind == NestResultKind::Collect; };
    if (!std::ranges::all_of(nestResults(nest), collects)) return {};
    // What is read after a check may not be there before it.
    if (effects_.ofOp(fn(), id).panics) return {};
    const AxisVariance body(m_, f_, id, effects_);
    std::vector<OpId> out;
    size_t sweeps = 0;
    for (OpId inner : fn().regions[nest.regions[0]].ops) {
      const Op& op = fn().ops[inner];
      if (op.kind != OpKind::Nest) continue;
      ++sweeps;
      const bool isNumber = op.results.size() == 1 && m_.types.isScalar(fn().typeOf(op.results[0]));
      const std::optional<AxisSet> axes = body.axesOf(inner);
      if (isNumber && holdsSum(op) && axes && *axes == AxisSet::first(nest.dims.size())) out.push_back(inner);
    }
    return sweeps > 1 ? out : std::vector<OpId>();
  }

  /// Each of them is a nest of its own before.
  void split(OpId id, const std::vector<OpId>& sums, RegionId region) {
    for (OpId sum : sums) {
      Cut cut{AxisSet::first(fn().ops[id].dims.size()), {}, {fn().ops[sum].results[0]}};
      cut.ops = AxisVariance(m_, f_, id, effects_).slice(cut.live);
      Builder b(m_, f_, region, fn().ops[id].loc);
      distribute(b, id, cut);
    }
    fn().regions[region].ops.push_back(id);
    changed = true;
  }

  bool reducesAll(const Op& nest) const {
    if (nest.kind != OpKind::Nest || nest.dims.size() < 2 || nest.dims.size() > AxisSet::most) return false;
    if (nestAccs(nest) != 0 || nest.results.size() != 1 || !m_.types.isScalar(fn().typeOf(nest.results[0])))
      return false;
    const NestResult& r = nestResults(nest)[0];
    return r.kind == NestResultKind::Reduce && r.keep.empty() && infoOf(r.monoid).op;
  }
  bool holdsSum(const Op& nest) const {
    return std::ranges::any_of(fn().regions[nest.regions[0]].ops,
                               [this](OpId id) { return fn().ops[id].kind == OpKind::Nest; });
  }

  void byRows(OpId id, const std::vector<uint32_t>& rows, RegionId region) {
    Op& nest = fn().ops[id];
    const ValueId whole = nest.results[0];
    const NestResult spec = nestResults(nest)[0];
    std::vector<DimId> extents;
    for (uint32_t a : rows) extents.push_back(nest.dims[a]);
    const TypeId rowsType = m_.types.array(fn().typeOf(whole), extents);
    resultOf(nest, NestView(fn(), nest).parts()[0]).keep = rows;
    const ValueId each = fn().values.add(Value{rowsType, id, {}, 0, {}});
    fn().ops[id].results[0] = each;
    fn().regions[region].ops.push_back(id);
    Builder b(m_, f_, region, fn().ops[id].loc);
    NestBuilder made(b);
    const std::vector<ValueId> at = made.openAxes(extents);
    made.add(spec, b.in(made.body()).getAt(each, at));
    const ValueId results[] = {whole};
    takeOver(fn(), made.finish(), results);
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Costs costs_;
};

} // namespace

void splitReductions(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  const bool any = changeBodies(m, [&](FunctionId f) {
    RowSums rows(m, f, effects);
    rows.run(m.functions[f].body);
    if (rows.changed) eliminateDeadValues(m, f, effects);
    return rows.changed;
  });
  if (any) flattenPerfectNests(m);
}

} // namespace melix::transforms
