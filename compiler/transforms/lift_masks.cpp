#include "transforms/lift_masks.h"

#include "core/access.h"
#include "core/clone.h"
#include "core/nest.h"
#include "core/walk.h"
#include "transforms/dce.h"
#include "transforms/rewrite_region.h"

#include <algorithm>
#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

/// A sum whose term is a branch.
struct MaskedSum {
  OpId nest, branch;
  std::vector<ValueId> around, within; ///< what the condition asks
};

class Lifter {
public:
  Lifter(Module& m, FunctionId f, const Effects& effects)
      : m_(m), f_(f), effects_(effects), info_(m.functions[f]) {}
  bool changed = false;

  void run(RegionId region, bool isInNest = false) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const bool isNest = fn().ops[id].kind == OpKind::Nest;
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner, isInNest || isNest);
      const std::optional<MaskedSum> sum = isNest ? masked(id, isInNest) : std::nullopt;
      if (!sum) return true;
      lift(*sum, region);
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  const Op* defOf(ValueId v) const {
    const OpId def = fn().values[v].def;
    return def.valid() ? &fn().ops[def] : nullptr;
  }

  std::optional<MaskedSum> masked(OpId id, bool isInNest) const {
    const NestView nest(fn(), fn().ops[id]);
    if (nest.accs() > 0 || nest.parts().size() != 1) return std::nullopt;
    const NestResult& r = *nest.parts()[0].spec;
    const ValueId term = nest.yields(nest.parts()[0])[0];
    if (r.kind != NestResultKind::Reduce || r.monoid != MonoidKind::Sum || (r.keep.empty() && !isInNest) ||
        r.keep.size() == nest.axes() || !m_.types.isScalar(fn().typeOf(term)))
      return std::nullopt;
    MaskedSum out{id, fn().values[term].def, {}, {}};
    if (!isMask(out.branch, nest.body()) || hasEffects(nest.body())) return std::nullopt;
    std::vector<ValueId> reduced;
    for (uint32_t k = 0; k < nest.axes(); ++k)
      if (std::ranges::find(r.keep, k) == r.keep.end()) reduced.push_back(nest.axisParams()[k]);
    auto isSame = [&](ValueId v) {
      const std::set<ValueId>& axes = info_.axesOf(v);
      return !axes.empty() && std::ranges::none_of(reduced, [&](ValueId a) { return axes.contains(a); });
    };
    ask(fn().ops[out.branch].operands[0], isSame, out);
    const bool isTriangle =
        std::ranges::any_of(out.around, [&](ValueId v) { return info_.axesOf(v).size() > 1; });
    return isTriangle ? std::optional(out) : std::nullopt;
  }
  /// A branch of a body that gives one number, zero where it is not taken.
  bool isMask(OpId id, RegionId body) const {
    const std::vector<OpId>& ops = fn().regions[body].ops;
    if (!id.valid() || std::ranges::find(ops, id) == ops.end()) return false;
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::If || op.results.size() != 1 || !op.resultDims.empty()) return false;
    const Op* other = defOf(terminator(fn(), op.regions[1]).operands[0]);
    return other &&
           (other->kind == OpKind::Zero || (other->kind == OpKind::Const && other->as<Constant>().bits == 0));
  }
  bool hasEffects(RegionId body) const {
    bool any = false;
    forEachOp(fn(), body, [&](OpId id) { any |= effects_.ofOp(fn(), id).any(); });
    return any;
  }
  /// Sorts what a condition asks.
  template <class IsSame>
  void ask(ValueId condition, const IsSame& isSame, MaskedSum& out) const {
    const Op* op = defOf(condition);
    if (op && op->kind == OpKind::And) {
      for (ValueId each : Operands(op->operands)) ask(each, isSame, out);
      return;
    }
    const bool compares = op && op->kind == OpKind::Cmp && fn().typeOf(op->operands[0]) == m_.types.int64();
    (compares && isSame(condition) ? out.around : out.within).push_back(condition);
  }

  void lift(const MaskedSum& sum, RegionId region) {
    const Op op = fn().ops[sum.nest];
    const NestResult r = nestResults(op)[0];
    Builder b(m_, f_, region, op.loc);
    Cloner copy(m_, f_, f_);
    ValueId made;
    if (r.keep.empty()) {
      made = branch(sum, copy, b);
    } else {
      NestBuilder around(b);
      const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
      for (uint32_t k : r.keep) copy.values[params[k]] = around.axis(op.dims[k]);
      Builder in = b.in(around.body());
      around.collect(branch(sum, copy, in));
      made = around.one();
    }
    const std::vector<ValueId> old(op.results.begin(), op.results.end());
    takeOver(fn(), fn().values[made].def, old);
  }
  /// The sum where all that stands around holds.
  ValueId branch(const MaskedSum& sum, Cloner& copy, Builder& b) {
    const Op op = fn().ops[sum.nest];
    for (ValueId v : sum.around) write(v, op.regions[0], copy, b);
    const ValueId holds = all(sum.around, copy, b);
    const TypeId type = fn().typeOf(fn().ops[sum.branch].results[0]);
    Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    yes.yield({inner(sum, copy, yes)});
    no.yield({no.zero(type)});
    Op made = Builder::simple(OpKind::If, {holds});
    made.regions = {yes.region, no.region};
    return b.one(std::move(made), type);
  }
  static ValueId all(const std::vector<ValueId>& conditions, const Cloner& copy, Builder& b) {
    ValueId holds = copy.value(conditions[0]);
    for (ValueId v : std::span(conditions).subspan(1)) holds = b.binary(OpKind::And, holds, copy.value(v));
    return holds;
  }
  /// What makes a value of the body.
  void write(ValueId v, RegionId body, Cloner& copy, Builder& b) const {
    const OpId def = fn().values[v].def;
    const std::vector<OpId>& ops = fn().regions[body].ops;
    if (!def.valid() || copy.values.contains(v) || std::ranges::find(ops, def) == ops.end()) return;
    for (ValueId operand : Operands(fn().ops[def].operands)) write(operand, body, copy, b);
    copy.op(def, b);
  }
  ValueId inner(const MaskedSum& sum, Cloner copy, Builder& b) {
    const Op op = fn().ops[sum.nest];
    NestResult r = nestResults(op)[0];
    NestBuilder made(b);
    const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
    for (uint32_t k = 0; k < op.dims.size(); ++k)
      if (std::ranges::find(r.keep, k) == r.keep.end()) copy.values[params[k]] = made.axis(op.dims[k]);
    copy.instead = [&](OpId id, Builder& at) {
      if (id != sum.branch) return false;
      const Op old = fn().ops[id];
      ValueId term;
      if (sum.within.empty()) {
        term = copy.body(old.regions[0], at).values[0];
      } else {
        Op left = Builder::simple(OpKind::If, {all(sum.within, copy, at)});
        for (RegionId arm : old.regions) left.regions.push_back(copy.region(arm, at));
        term = at.one(std::move(left), fn().typeOf(old.results[0]));
      }
      copy.values[old.results[0]] = term;
      return true;
    };
    Builder in = b.in(made.body());
    const ValueId term = copy.body(op.regions[0], in).values[0];
    r.keep.clear();
    made.add(std::move(r), term);
    return made.one();
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const AccessInfo info_;
};

} // namespace

void liftMasks(Module& m) {
  const Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Lifter lifter(m, f, effects);
    lifter.run(m.functions[f].body);
    if (lifter.changed) eliminateDeadValues(m, f, effects);
  }
}

} // namespace melix::transforms
