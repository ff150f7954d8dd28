#include "transforms/hoisting/hoist_checks.h"

#include "core/analysis/sizes.h"
#include "core/ir/build.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// A check, and the extents of the nests that it left: it runs where all have points.
struct Lifted {
  OpId check;
  std::vector<DimId> extents;
};

class CheckHoister {
public:
  CheckHoister(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects) {}

  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      if (fn().ops[id].kind == OpKind::Nest) return place(id, lift(id), region);
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner);
      return true;
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// What the body of a nest knows that others do not.
  struct Body {
    RegionId region;
    std::unordered_set<OpId> ops;
    std::unordered_set<DimSym> sizes;
    bool isFirst = true; ///< whether no effect stands before
  };

  /// Takes the checks out of the body of a nest that need nothing of a point, and stand before other
  /// effects.
  std::vector<Lifted> lift(OpId nest) {
    const Regions regions = fn().ops[nest].regions;
    for (size_t k = 1; k < regions.size(); ++k) run(regions[k]);
    Body body{regions[0], {}, {}, true};
    body.sizes.insert(fn().regions[regions[0]].dimParams.begin(), fn().regions[regions[0]].dimParams.end());
    std::vector<Lifted> out;
    rewriteRegion(m_, f_, regions[0], [&](OpId id) {
      std::vector<Lifted> inside;
      if (fn().ops[id].kind == OpKind::Check) inside.push_back({id, {}});
      if (fn().ops[id].kind == OpKind::Nest) inside = lift(id);
      std::vector<Lifted> stay;
      for (Lifted& each : inside) {
        body.isFirst = body.isFirst && needsNothing(each, body);
        (body.isFirst ? out : stay).push_back(std::move(each));
      }
      const bool isCheck = fn().ops[id].kind == OpKind::Check;
      if (isCheck) return !stay.empty();
      for (RegionId r : Regions(fn().ops[id].regions))
        if (fn().ops[id].kind != OpKind::Nest) run(r);
      body.isFirst = body.isFirst && !effects_.ofOp(fn(), id).any();
      body.ops.insert(id);
      body.sizes.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
      return place(id, stay, regions[0]);
    });
    for (Lifted& each : out)
      each.extents.insert(each.extents.end(), fn().ops[nest].dims.begin(), fn().ops[nest].dims.end());
    return out;
  }
  bool needsNothing(const Lifted& lifted, const Body& body) const {
    const Op& check = fn().ops[lifted.check];
    auto isOutside = [&](ValueId v) {
      const Value& value = fn().values[v];
      return value.def.valid() ? !body.ops.contains(value.def) : value.region != body.region;
    };
    std::vector<DimSym> sizes = sizesOf(m_, fn(), check);
    for (DimId d : lifted.extents) m_.types.dims.collectSymbols(d, sizes);
    return std::ranges::all_of(check.operands, isOutside) &&
           std::ranges::none_of(sizes, [&](DimSym s) { return body.sizes.contains(s); });
  }

  /// Appends checks to the region, before the nest that they left; whether that stays where it is.
  bool place(OpId nest, const std::vector<Lifted>& checks, RegionId region) {
    if (checks.empty()) return true;
    changed = true;
    for (const Lifted& each : checks) guardByNonEmptyDomain(each, region);
    fn().regions[region].ops.push_back(nest);
    return false;
  }
  void guardByNonEmptyDomain(const Lifted& lifted, RegionId region) {
    Builder b(m_, f_, region, fn().ops[lifted.check].loc);
    ValueId some;
    for (DimId d : lifted.extents) {
      if (m_.types.dims.atLeast(d, 1)) continue;
      const ValueId one = b.compare(ops::CmpKind::Gt, b.dimValue(d), b.integer(0));
      some = some.valid() ? b.binary(OpKind::And, some, one) : one;
    }
    if (!some.valid()) return fn().regions[region].ops.push_back(lifted.check);
    Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    fn().regions[yes.region].ops.push_back(lifted.check);
    yes.yield({});
    no.yield({});
    Op op = Builder::simple(OpKind::If, {some});
    op.regions = {yes.region, no.region};
    b.append(std::move(op), {});
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
};

} // namespace

bool hoistChecks(Module& m) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    CheckHoister hoister(m, f, effects);
    hoister.run(m.functions[f].body);
    return hoister.changed;
  });
}

} // namespace melix::transforms
