#include "transforms/accumulation/split_nest_results.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Results that go well together: the same kind of sweep over the same kept axes.
bool together(const NestResult& a, const NestResult& b) { return a.kind == b.kind && a.keep == b.keep; }

bool cheap(const Function& f, const Op& nest) {
  if (nestAccs(nest) > 0 || !nest.resultDims.empty()) return false;
  for (OpId id : f.regions[nest.regions[0]].ops) {
    const Op& o = f.ops[id];
    if (!o.regions.empty() || o.kind == OpKind::Call || o.kind == OpKind::Math || o.kind == OpKind::Check ||
        o.kind == OpKind::Panic || o.kind == OpKind::Builtin || o.kind == OpKind::Debug ||
        o.kind == OpKind::BlackBox || o.kind == OpKind::Pop)
      return false;
  }
  for (const NestResult& r : nestResults(nest))
    if (isCombine(r)) return false;
  return true;
}

class ResultSplitter {
public:
  ResultSplitter(Module& m, FunctionId f) : m_(m), f_(f) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : fn().ops[id].regions) run(inner);
      return fn().ops[id].kind != OpKind::Nest || !cheap(fn(), fn().ops[id]) || !split(id, region);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Whether nests of the parts, appended to the region, took the place of the op.
  bool split(OpId id, RegionId region) {
    const Op& nest = fn().ops[id];
    const NestView view(fn(), nest);
    std::vector<std::vector<NestPart>> groups;
    for (const NestPart& part : view.parts()) {
      auto g = std::find_if(groups.begin(), groups.end(),
                            [&](auto& x) { return together(*x[0].spec, *part.spec); });
      if (g == groups.end())
        groups.push_back({part});
      else
        g->push_back(part);
    }
    if (groups.size() < 2) return false;
    for (const std::vector<NestPart>& group : groups) {
      Builder b(m_, f_, region, nest.loc);
      NestBuilder made(b, Cloner(m_, f_, f_).region(nest.regions[0], b), nest.dims);
      const Operands& yields = terminator(fn(), made.body()).operands;
      std::vector<ValueId> old;
      for (const NestPart& part : group) {
        made.add(*part.spec, part.yields.of(yields), view.own(part));
        for (ValueId v : view.results(part)) old.push_back(v);
      }
      takeOver(fn(), made.finish(), old);
    }
    return true;
  }

  Module& m_;
  FunctionId f_;
};

} // namespace

void splitNestResults(Module& m) {
  changeBodies(m, [&](FunctionId f) { ResultSplitter(m, f).run(m.functions[f].body); });
}

} // namespace melix::transforms
