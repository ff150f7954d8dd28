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
    return ends && isDear(nest.body());
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
    const Op& nest = fn().ops[id];
    const NestView view(fn(), nest);
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
    for (const NestPart& part : view.parts())
      for (ValueId v : part.yields.of(yielded)) {
        if (part.spec->kind != NestResultKind::Collect && !isMade(v)) continue;
        if (!numberOf.try_emplace(v, collected.size()).second) continue;
        collected.push_back(v);
        types.push_back(m_.types.array(fn().typeOf(v), nest.dims));
      }
    fn().ops[yieldId].operands = collected;
    Op first = nestOf(std::vector<NestResult>(collected.size(), collecting(nest.dims.size())));
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
    const NestView view(fn(), nest);
    Builder in = b.in(b.newRegion());
    std::vector<ValueId> axes, values, old;
    for (size_t a = 0; a < nest.dims.size(); ++a) axes.push_back(in.param(m_.types.int64()));
    std::vector<NestResult> rest;
    for (const NestPart& part : view.parts()) {
      if (part.spec->kind == NestResultKind::Collect) {
        replaced.emplace_back(view.results(part)[0], arrays.at(yielded[part.yields.first]));
        continue;
      }
      rest.push_back(*part.spec);
      for (ValueId v : part.yields.of(yielded)) {
        const Value& value = fn().values[v];
        const bool axis = !value.def.valid() && value.region == body;
        auto array = arrays.find(v);
        values.push_back(axis                    ? axes[value.index]
                         : array != arrays.end() ? in.getAt(array->second, axes)
                                                 : v);
      }
      for (ValueId v : view.results(part)) old.push_back(v);
    }
    std::vector<TypeId> types;
    for (ValueId v : old) types.push_back(fn().typeOf(v));
    in.yield(values);
    Op second = nestOf(std::move(rest), nest.operands);
    second.dims = nest.dims;
    second.regions = nest.regions;
    second.regions[0] = in.region;
    second.resultDims = nest.resultDims;
    takeOver(fn(), b.append(std::move(second), types), old);
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
