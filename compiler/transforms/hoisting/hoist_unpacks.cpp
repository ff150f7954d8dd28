#include "transforms/hoisting/hoist_unpacks.h"

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"
#include "transforms/analysis/maybe_undefined.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class UnpackHoister {
public:
  UnpackHoister(Module& m, FunctionId f, const Undefined& undefined) : m_(m), f_(f), undefined_(undefined) {}

  bool changed = false;

  /// Takes what may leave out of the nests of a region, those inside of others first.
  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner);
      if (fn().ops[id].kind != OpKind::Nest) return true;
      const std::vector<OpId> leaving = takeOut(regions[0]);
      if (leaving.empty()) return true;
      std::vector<OpId>& front = fn().regions[region].ops;
      front.insert(front.end(), leaving.begin(), leaving.end());
      front.push_back(id);
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  std::vector<OpId> takeOut(RegionId body) {
    std::unordered_set<OpId> own(fn().regions[body].ops.begin(), fn().regions[body].ops.end());
    std::unordered_set<DimSym> sizes(fn().regions[body].dimParams.begin(),
                                     fn().regions[body].dimParams.end());
    for (OpId id : own) sizes.insert(fn().ops[id].resultDims.begin(), fn().ops[id].resultDims.end());
    std::vector<OpId> out;
    std::erase_if(fn().regions[body].ops, [&](OpId id) {
      const Op& op = fn().ops[id];
      auto isOutside = [&](ValueId v) {
        const Value& value = fn().values[v];
        return value.def.valid() ? !own.contains(value.def) : value.region != body;
      };
      if (!std::ranges::all_of(op.operands, isOutside) || !opens(op, out)) return false;
      for (DimSym s : op.resultDims) sizes.erase(s);
      const std::vector<DimSym> needs = sizesOf(m_, fn(), op);
      if (std::ranges::any_of(needs, [&](DimSym s) { return sizes.contains(s); })) {
        sizes.insert(op.resultDims.begin(), op.resultDims.end());
        return false;
      }
      own.erase(id);
      out.push_back(id);
      return true;
    });
    return out;
  }
  /// A pack that is there, and what splits what is in one that leaves, without looking at elements.
  bool opens(const Op& op, const std::vector<OpId>& leaving) const {
    if (op.kind == OpKind::Unpack) return !undefined_.mayBe(f_, op.operands[0]);
    const bool isPart = op.kind == OpKind::CastDims || op.kind == OpKind::Get;
    return isPart && op.operands.size() == 1 && !m_.types.isScalar(fn().typeOf(op.results[0])) &&
           std::ranges::find(leaving, fn().values[op.operands[0]].def) != leaving.end();
  }

  Module& m_;
  const FunctionId f_;
  const Undefined& undefined_;
};

} // namespace

bool hoistUnpacks(Module& m) {
  const Undefined undefined(m);
  return changeBodies(m, [&](FunctionId f) {
    UnpackHoister hoister(m, f, undefined);
    hoister.run(m.functions[f].body);
    return hoister.changed;
  });
}

} // namespace melix::transforms
