#include "transforms/separate_terms.h"

#include "core/clone.h"
#include "core/nest.h"
#include "core/uses.h"
#include "core/walk.h"
#include "transforms/rewrite_region.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int64_t fewPoints = 64;

class Separator {
public:
  Separator(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const bool isNest = fn().ops[id].kind == OpKind::Nest;
      if (isNest && isWanted(id)) return separate(id, region), false;
      if (!isNest)
        for (RegionId inner : std::vector<RegionId>(fn().ops[id].regions)) run(inner);
      return true;
    });
  }

  /// What results that went stand for.
  std::vector<std::pair<ValueId, ValueId>> replaced;

private:
  Function& fn() const { return m_.functions[f_]; }

  bool isWanted(OpId id) const {
    const Op& op = fn().ops[id];
    const auto& attr = op.as<NestAttr>();
    if (attr.accs > 0 || op.dims.empty()) return false;
    bool ends = false;
    for (const NestResult& r : attr.results) {
      if (r.kind == NestResultKind::Collect) continue;
      ends = true;
      if (r.kind == NestResultKind::Reduce && !r.keep.empty()) return false;
      if (isCombine(r))
        for (OpId inner : fn().regions[op.regions[r.combineRegion]].ops)
          if (effects_.ofOp(fn(), inner).any()) return false;
    }
    if (!ends) return false;
    const Op& yield = fn().ops[fn().regions[op.regions[0]].ops.back()];
    size_t at = 0;
    for (const NestResult& r : attr.results)
      for (uint32_t k = 0; k < yieldsOf(r); ++k, ++at)
        if (r.kind != NestResultKind::Collect && !m_.types.isScalar(fn().typeOf(yield.operands[at])))
          return false;
    return isDear(op.regions[0]);
  }

  bool isDear(RegionId body) const {
    bool dear = false;
    forEachOp(fn(), body, [&](OpId id) {
      const Op& op = fn().ops[id];
      dear |= op.kind == OpKind::Call || op.kind == OpKind::While || op.kind == OpKind::For;
      if (op.kind != OpKind::Nest) return;
      std::optional<int64_t> points = m_.types.dims.asConstant(m_.types.dims.product(op.dims));
      dear |= !points || *points > fewPoints;
    });
    return dear;
  }

  void separate(OpId id, RegionId region) {
    const Op nest = fn().ops[id];
    const auto& attr = nest.as<NestAttr>();
    const RegionId body = nest.regions[0];
    const OpId yieldId = fn().regions[body].ops.back();
    const std::vector<ValueId> yielded = fn().ops[yieldId].operands;
    Builder b(m_, f_, region, nest.loc);

    const std::vector<OpId>& ops = fn().regions[body].ops;
    const std::unordered_set<OpId> made(ops.begin(), ops.end());
    auto isMade = [&](ValueId v) { return made.contains(fn().values[v].def); };

    // What the first nest collects: each value that is made in the body, once.
    std::unordered_map<ValueId, size_t> numberOf;
    std::vector<ValueId> collected;
    std::vector<TypeId> types;
    NestAttr terms;
    NestResult all;
    for (uint32_t a = 0; a < nest.dims.size(); ++a) all.keep.push_back(a);
    auto collect = [&](ValueId v) {
      if (!numberOf.try_emplace(v, collected.size()).second) return;
      collected.push_back(v);
      types.push_back(m_.types.array(fn().typeOf(v), nest.dims));
      terms.results.push_back(all);
    };
    size_t at = 0;
    for (const NestResult& r : attr.results)
      for (uint32_t k = 0; k < yieldsOf(r); ++k, ++at)
        if (r.kind == NestResultKind::Collect || isMade(yielded[at])) collect(yielded[at]);
    fn().ops[yieldId].operands = collected;
    Op first = Builder::simple(OpKind::Nest, {}, std::move(terms));
    first.dims = nest.dims;
    first.regions = {body};
    const OpId firstNest = b.append(std::move(first), types);
    std::unordered_map<ValueId, ValueId> arrays;
    for (auto [v, number] : numberOf) arrays[v] = b.result(firstNest, number);
    reduce(nest, yielded, b, body, arrays);
  }

  /// The second nest: all results but the collected ones, of values read where the first nest put them.
  void reduce(const Op& nest, const std::vector<ValueId>& yielded, Builder& b, RegionId body,
              const std::unordered_map<ValueId, ValueId>& arrays) {
    const auto& attr = nest.as<NestAttr>();
    Builder in = b.in(b.newRegion());
    std::vector<ValueId> axes, values, old;
    for (size_t a = 0; a < nest.dims.size(); ++a) axes.push_back(in.param(m_.types.int64()));
    NestAttr rest;
    std::vector<TypeId> types;
    size_t at = 0, result = 0;
    for (const NestResult& r : attr.results) {
      if (r.kind == NestResultKind::Collect) {
        replaced.emplace_back(nest.results[result++], arrays.at(yielded[at++]));
        continue;
      }
      rest.results.push_back(r);
      for (uint32_t k = 0; k < yieldsOf(r); ++k, ++at) {
        ValueId v = yielded[at];
        const Value& value = fn().values[v];
        bool axis = !value.def.valid() && value.region == body;
        auto array = arrays.find(v);
        values.push_back(axis                    ? axes[value.index]
                         : array != arrays.end() ? in.getAt(array->second, axes)
                                                 : v);
      }
      for (uint32_t k = 0; k < resultsOf(r, nest.dims.size()); ++k, ++result) {
        old.push_back(nest.results[result]);
        types.push_back(fn().typeOf(old.back()));
      }
    }
    in.yield(values);
    Op second = Builder::simple(OpKind::Nest, nest.operands, std::move(rest));
    second.dims = nest.dims;
    second.regions = nest.regions;
    second.regions[0] = in.region;
    second.resultDims = nest.resultDims;
    OpId made = b.append(std::move(second), types);
    takeOver(fn(), made, old);
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
};

} // namespace

void separateTerms(Module& m) {
  Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Separator s(m, f, effects);
    s.run(m.functions[f].body);
    if (s.replaced.empty()) continue;
    LiveUses uses(m, f);
    for (auto [v, by] : s.replaced) uses.replace(v, by);
  }
}

} // namespace melix::transforms
