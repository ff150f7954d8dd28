#include "transforms/predication/unswitch_sums.h"

#include "core/analysis/access.h"
#include "core/analysis/predicate.h"
#include "core/ir/analyses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/predicated_sum.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

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
      : m_(m), f_(f), effects_(effects), info_(analysis<AccessInfo>(m, f)) {}
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
    if (!isSum(r) || (r.keep.empty() && !isInNest) || r.keep.size() == nest.axes() ||
        !m_.types.isScalar(fn().typeOf(term)))
      return std::nullopt;
    MaskedSum out{id, fn().values[term].def, {}, {}};
    if (!isMask(out.branch, nest.body()) || effects_.ofOp(fn(), id).any()) return std::nullopt;
    std::vector<ValueId> reduced;
    for (uint32_t k = 0; k < nest.axes(); ++k)
      if (std::ranges::find(r.keep, k) == r.keep.end()) reduced.push_back(nest.axisParams()[k]);
    auto isSame = [&](ValueId v) {
      const std::set<ValueId>& axes = info_->axesOf(v);
      return !axes.empty() && std::ranges::none_of(reduced, [&](ValueId a) { return axes.contains(a); });
    };
    for (ValueId each : conjunctsOf(fn(), fn().ops[out.branch].operands[0]))
      (i64Comparison(m_, fn(), each) && isSame(each) ? out.around : out.within).push_back(each);
    const bool isTriangle =
        std::ranges::any_of(out.around, [&](ValueId v) { return info_->axesOf(v).size() > 1; });
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
  /// Where all that stands around holds, the sum under what is left.
  void lift(const MaskedSum& sum, RegionId region) {
    Builder at(m_, f_, region, fn().ops[sum.nest].loc);
    const SumAtPoints points(m_, f_, sum.nest);
    const RegionId body = fn().ops[sum.nest].regions[0];
    const std::vector<OpId>& ops = fn().regions[body].ops;
    const std::unordered_set<OpId> made(ops.begin(), ops.end());
    const TypeId type = fn().typeOf(fn().ops[sum.branch].results[0]);
    points.write(at, [&](Cloner& copy, Builder& b) {
      for (ValueId v : sum.around) copyValue(fn(), v, [&](OpId id) { return made.contains(id); }, copy, b);
      return selectOrZero(b, all(sum.around, copy, b), type, [&](Builder& yes) {
        Cloner inside = copy;
        return points.sum(inside, yes, [&](Cloner& c, Builder& in) { return term(sum, body, c, in); });
      });
    });
  }
  static ValueId all(const std::vector<ValueId>& conditions, const Cloner& copy, Builder& b) {
    ValueId holds = copy.value(conditions[0]);
    for (ValueId v : std::span(conditions).subspan(1)) holds = b.binary(OpKind::And, holds, copy.value(v));
    return holds;
  }
  /// The body, whose branch asks for what is left.
  ValueId term(const MaskedSum& sum, RegionId body, Cloner& copy, Builder& in) const {
    copy.instead = [&](OpId id, Builder& at) {
      if (id != sum.branch) return false;
      const Op old = fn().ops[id];
      ValueId made;
      if (sum.within.empty()) {
        made = copy.body(old.regions[0], at).values[0];
      } else {
        Op left = Builder::simple(OpKind::If, {all(sum.within, copy, at)});
        for (RegionId arm : old.regions) left.regions.push_back(copy.region(arm, at));
        made = at.one(std::move(left), fn().typeOf(old.results[0]));
      }
      copy.values[old.results[0]] = made;
      return true;
    };
    return copy.body(body, in).values[0];
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const std::shared_ptr<const AccessInfo> info_;
};

} // namespace

void unswitchSums(Module& m) {
  require(m, {State::SumsUnordered});
  const Effects effects(m);
  changeBodies(m, [&](FunctionId f) {
    Lifter lifter(m, f, effects);
    lifter.run(m.functions[f].body);
    if (lifter.changed) eliminateDeadValues(m, f, effects);
    return lifter.changed;
  });
}

} // namespace melix::transforms
