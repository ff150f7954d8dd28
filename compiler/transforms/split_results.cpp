#include "transforms/split_results.h"

#include "core/clone.h"
#include "core/nest.h"
#include "core/walk.h"
#include "transforms/ad_emit.h"
#include "transforms/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

namespace {

/// Results that go well together: the same kind of sweep over the same kept axes.
bool together(const NestResult& a, const NestResult& b) { return a.kind == b.kind && a.keep == b.keep; }

bool cheap(const Function& f, const Op& nest) {
  if (nest.as<NestAttr>().accs > 0 || !nest.resultDims.empty()) return false;
  for (OpId id : f.regions[nest.regions[0]].ops) {
    const Op& o = f.ops[id];
    if (!o.regions.empty() || o.kind == OpKind::Call || o.kind == OpKind::Math || o.kind == OpKind::Check ||
        o.kind == OpKind::Panic || o.kind == OpKind::Builtin || o.kind == OpKind::Debug ||
        o.kind == OpKind::Pop)
      return false;
  }
  for (const NestResult& r : nest.as<NestAttr>().results)
    if (isCombine(r)) return false;
  return true;
}

class Splitter {
public:
  Splitter(Module& m, FunctionId f) : m_(m), f_(f) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : std::vector<RegionId>(fn().ops[id].regions)) run(inner);
      return fn().ops[id].kind != OpKind::Nest || !cheap(fn(), fn().ops[id]) || !split(id, region);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Whether nests of the parts, appended to the region, took the place of the op.
  bool split(OpId id, RegionId region) {
    const std::vector<NestResult> results = fn().ops[id].as<NestAttr>().results;
    std::vector<std::vector<size_t>> groups;
    for (size_t i = 0; i < results.size(); ++i) {
      auto g = std::find_if(groups.begin(), groups.end(),
                            [&](auto& x) { return together(results[x[0]], results[i]); });
      if (g == groups.end())
        groups.push_back({i});
      else
        g->push_back(i);
    }
    if (groups.size() < 2) return false;
    const std::vector<ValueId> old = fn().ops[id].results;
    const std::vector<DimId> dims = fn().ops[id].dims;
    std::vector<size_t> firstResult;
    size_t at = 0;
    for (const NestResult& r : results) {
      firstResult.push_back(at);
      at += resultsOf(r, dims.size());
    }
    for (const std::vector<size_t>& group : groups) {
      Emit e(m_, f_, region, fn().ops[id].loc);
      Cloner clone(m_, f_, f_);
      Op made;
      made.kind = OpKind::Nest;
      made.dims = dims;
      made.loc = fn().ops[id].loc;
      made.regions = {clone.region(fn().ops[id].regions[0], e)};
      Op& y = fn().ops[fn().regions[made.regions[0]].ops.back()];
      NestAttr attr;
      std::vector<ValueId> yields;
      std::vector<TypeId> types;
      std::vector<ValueId> replaced;
      for (size_t i : group) {
        attr.results.push_back(results[i]);
        yields.push_back(y.operands[i]);
        for (size_t k = 0; k < resultsOf(results[i], dims.size()); ++k) {
          replaced.push_back(old[firstResult[i] + k]);
          types.push_back(fn().typeOf(replaced.back()));
        }
      }
      y.operands = std::move(yields);
      made.attr = std::move(attr);
      OpId op = e.append(std::move(made), types);
      takeOver(fn(), op, replaced);
    }
    return true;
  }

  Module& m_;
  FunctionId f_;
};

} // namespace

void splitResults(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Splitter(m, f).run(m.functions[f].body);
  }
}

} // namespace melix::transforms
