#include "transforms/split_results.h"

#include "core/clone.h"
#include "core/walk.h"
#include "transforms/ad_emit.h"
#include "transforms/nest_shape.h"

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
    const std::vector<OpId> ops = fn().regions[region].ops;
    std::vector<OpId> out;
    for (OpId id : ops) {
      for (RegionId inner : std::vector<RegionId>(fn().ops[id].regions)) run(inner);
      if (fn().ops[id].kind == OpKind::Nest && cheap(fn(), fn().ops[id]))
        split(id, region, out);
      else
        out.push_back(id);
    }
    fn().regions[region].ops = std::move(out);
  }

  Replacement replace;

private:
  Function& fn() const { return m_.functions[f_]; }

  void split(OpId id, RegionId region, std::vector<OpId>& out) {
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
    if (groups.size() < 2) return out.push_back(id);
    const std::vector<ValueId> old = fn().ops[id].results;
    const std::vector<DimId> dims = fn().ops[id].dims;
    std::vector<size_t> firstResult;
    size_t at = 0;
    for (const NestResult& r : results) {
      firstResult.push_back(at);
      at += resultsOf(r, dims.size());
    }
    for (const std::vector<size_t>& group : groups) {
      fn().regions[region].ops.clear(); // the builder appends; what it made is taken over
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
      for (size_t k = 0; k < replaced.size(); ++k) replace.values[replaced[k]] = e.result(op, k);
      out.push_back(op);
    }
  }

  Module& m_;
  FunctionId f_;
};

} // namespace

void splitResults(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Splitter s(m, f);
    s.run(m.functions[f].body);
    if (!s.replace.empty()) replaceAll(m, f, s.replace);
  }
}

} // namespace melix::transforms
