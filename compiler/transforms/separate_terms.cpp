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
    const Operands yielded = terminator(fn(), body).operands;
    Builder b(m_, f_, region, nest.loc);
    const std::vector<OpId>& ops = fn().regions[body].ops;
    const std::unordered_set<OpId> made(ops.begin(), ops.end());
    auto isMade = [&](ValueId v) { return made.contains(fn().values[v].def); };

    // What the first nest collects: each value that is made in the body, once.
    std::unordered_map<ValueId, uint32_t> numberOf;
    NestBuilder first(b, body, nest.dims);
    for (const NestPart& part : view.parts())
      for (ValueId v : part.yields.of(yielded)) {
        if (part.spec->kind != NestResultKind::Collect && !isMade(v)) continue;
        if (numberOf.try_emplace(v, first.results()).second) first.collect(v);
      }
    const OpId firstNest = first.finish();
    std::unordered_map<ValueId, ValueId> arrays;
    for (auto [v, number] : numberOf) arrays[v] = b.result(firstNest, number);
    reduce(nest, yielded, b, body, arrays);
  }

  /// The second nest: all results but the collected ones, of values read where the first nest put them.
  void reduce(const Op& nest, const Operands& yielded, Builder& b, RegionId body,
              const std::unordered_map<ValueId, ValueId>& arrays) {
    const NestView view(fn(), nest);
    NestBuilder rest(b);
    Builder in = b.in(rest.body());
    const std::vector<ValueId> axes = rest.openAxes(nest.dims);
    std::vector<ValueId> old;
    for (const NestPart& part : view.parts()) {
      if (part.spec->kind == NestResultKind::Collect) {
        replaced.emplace_back(view.results(part)[0], arrays.at(yielded[part.yields.first]));
        continue;
      }
      std::vector<ValueId> values;
      for (ValueId v : part.yields.of(yielded)) {
        const Value& value = fn().values[v];
        const bool axis = !value.def.valid() && value.region == body;
        auto array = arrays.find(v);
        values.push_back(axis                    ? axes[value.index]
                         : array != arrays.end() ? in.getAt(array->second, axes)
                                                 : v);
      }
      rest.add(*part.spec, values, view.own(part));
      for (ValueId v : view.results(part)) old.push_back(v);
    }
    takeOver(fn(), rest.finish(), old);
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
