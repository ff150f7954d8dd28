#include "transforms/batch/fission_products.h"

#include "core/analysis/sizes.h"
#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/batch/row_checks.h"
#include "transforms/batch/row_functions.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// The body of a nest in phases: of each, first what its products need is made, then its products.
class BodyPhases {
public:
  BodyPhases(Module& m, FunctionId f, OpId nest, const Effects& effects, const Costs& costs)
      : m_(m), f_(f), nest_(nest), costs_(costs), body_(fn().ops[nest].regions[0]),
        ops_(fn().regions[body_].ops) {
    const std::vector<OpId> all = partsWithProducts(m_, fn(), nest_);
    if (all.empty()) return;
    for (OpId id : ops_) {
      own_.insert(id);
      for (DimSym s : fn().ops[id].resultDims) sizes_[s] = id;
    }
    for (OpId id : ops_)
      for (OpId need : needs_[id] = needsOf(id)) users_[need].push_back(id);
    findProducts(all, effects);
    if (!products_.empty()) number();
  }

  bool any() const { return !products_.empty() && areArrays_; }
  const std::vector<OpId>& products() const { return products_; }

  /// Appends the nests before at `b`.
  void separate(Builder& b) {
    const uint32_t phases = 1 + phase_.at(products_.back());
    for (uint32_t phase = 0; phase < phases; ++phase) {
      hoistDefinitions(b, liveOf(phase));
      for (OpId product : products_)
        if (phase_.at(product) == phase) hoistDefinitions(b, resultsOf(product));
    }
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  bool isProduct(OpId id) const { return isProduct_.contains(id); }

  void findProducts(const std::vector<OpId>& all, const Effects& effects) {
    const AxisVariance body(m_, f_, nest_, effects, OwnSizes::Copied);
    for (OpId id : all)
      if (fn().ops[id].kind == OpKind::Nest && body.axesOf(id) && isSwept(id) && !isReadByElements(id, body_))
        products_.push_back(id);
    isProduct_.insert(products_.begin(), products_.end());
  }
  /// Whether a point reads single elements of what the op makes: who needs few of a row makes few of it.
  bool isReadByElements(OpId made, RegionId region) const {
    return std::ranges::any_of(fn().regions[region].ops, [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind == OpKind::Get && fn().values[op.operands[0]].def == made)
        return m_.types.kind(fn().typeOf(op.results[0])) != TypeKind::Array;
      const bool isBranch = op.kind == OpKind::If || op.kind == OpKind::Match;
      return isBranch &&
             std::ranges::any_of(op.regions, [&](RegionId r) { return isReadByElements(made, r); });
    });
  }
  /// Whether a point gives what the op makes, or sweeps over it: itself, or what is made of it, element by
  /// element. Numbers are no rows.
  bool isSwept(OpId made) const {
    std::unordered_set<OpId> seen;
    auto reaches = [&](auto& self, OpId id) -> bool {
      const auto users = users_.find(id);
      return users != users_.end() && std::ranges::any_of(users->second, [&](OpId user) {
               if (!seen.insert(user).second) return false;
               const Op& op = fn().ops[user];
               if (op.kind == OpKind::Yield || keepsWhole(op)) return true;
               if (op.kind == OpKind::Nest && !isCollected(op)) return true;
               return givesArray(op) && self(self, user);
             });
    };
    return !givesArray(fn().ops[made]) || reaches(reaches, made);
  }
  /// A branch may read all of an array, a case of an enum holds it.
  static bool keepsWhole(const Op& op) {
    return (!op.regions.empty() && op.kind != OpKind::Nest) || op.kind == OpKind::Variant ||
           op.kind == OpKind::Make || op.kind == OpKind::Pack;
  }
  bool givesArray(const Op& op) const {
    return std::ranges::any_of(op.results,
                               [&](ValueId v) { return m_.types.kind(fn().typeOf(v)) == TypeKind::Array; });
  }
  static bool isCollected(const Op& nest) {
    return std::ranges::all_of(nestResults(nest),
                               [](const NestResult& r) { return r.kind == NestResultKind::Collect; });
  }
  std::vector<OpId> needsOf(OpId id) const {
    std::vector<OpId> out;
    auto add = [&](OpId each) {
      for (ValueId v : fn().ops[each].operands)
        if (const OpId def = fn().values[v].def; def.valid() && own_.contains(def)) out.push_back(def);
      forEachSize(each, [&](OpId by) {
        if (by != id) out.push_back(by);
      });
    };
    add(id);
    for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, add);
    return out;
  }
  /// The ops of the body that define the sizes of an op.
  template <class Visit>
  void forEachSize(OpId id, Visit visit) const {
    if (sizes_.empty()) return;
    for (DimSym s : sizesOf(m_, fn(), fn().ops[id]))
      if (const auto by = sizes_.find(s); by != sizes_.end()) visit(by->second);
  }

  /// Products stand in the first phase that has all they need, what they need in the last one that they
  /// allow.
  void number() {
    for (OpId id : ops_) {
      uint32_t& phase = phase_[id] = 0;
      for (OpId need : needs_[id]) phase = std::max(phase, phase_.at(need) + (isProduct(need) ? 1 : 0));
    }
    std::ranges::stable_sort(products_, {}, [&](OpId id) { return phase_.at(id); });
    for (OpId id : ops_)
      if (!isProduct(id)) phase_[id] = last;
    for (size_t k = ops_.size(); k-- > 0;)
      for (OpId need : needs_[ops_[k]])
        if (!isProduct(need)) phase_[need] = std::min(phase_[need], phase_.at(ops_[k]));
    for (uint32_t phase = 0; phase <= phase_.at(products_.back()); ++phase)
      areArrays_ = areArrays_ && std::ranges::all_of(liveOf(phase), [&](ValueId v) { return isStorable(v); });
    for (OpId id : products_)
      areArrays_ = areArrays_ && std::ranges::all_of(resultsOf(id), [&](ValueId v) { return isStorable(v); });
  }
  bool isStorable(ValueId v) const { return hasOuterSizes(m_, fn(), body_, v); }

  bool isMadeIn(OpId id, uint32_t phase) const { return phase_.at(id) == phase && !isProduct(id); }

  /// Values that a phase makes for its products and for those after it: what is cheap is recomputed.
  std::vector<ValueId> liveOf(uint32_t phase) const {
    std::vector<ValueId> out;
    std::unordered_set<OpId> seen;
    auto need = [&](auto& self, OpId id) -> void {
      if (!isMadeIn(id, phase) || !seen.insert(id).second) return;
      if (!costs_.isAsCheapAsRead(id))
        return (void)std::ranges::copy(fn().ops[id].results, std::back_inserter(out));
      for (OpId each : needs_.at(id)) self(self, each);
    };
    for (OpId id : ops_)
      if (!isMadeIn(id, phase))
        for (OpId each : needs_.at(id)) need(need, each);
    return out;
  }
  std::vector<ValueId> resultsOf(OpId id) const {
    return {fn().ops[id].results.begin(), fn().ops[id].results.end()};
  }

  /// The ops of the body that make values now, in their order.
  std::vector<OpId> slice(const std::vector<ValueId>& values) const {
    const std::vector<OpId>& now = fn().regions[body_].ops;
    const std::unordered_set<OpId> here(now.begin(), now.end());
    std::unordered_set<OpId> taken;
    auto take = [&](auto& self, OpId id) -> void {
      if (!here.contains(id) || !taken.insert(id).second) return;
      auto operands = [&](OpId each) {
        for (ValueId v : fn().ops[each].operands)
          if (const OpId def = fn().values[v].def; def.valid()) self(self, def);
        forEachSize(each, [&](OpId by) { self(self, by); });
      };
      operands(id);
      for (RegionId r : fn().ops[id].regions) forEachOp(fn(), r, operands);
    };
    for (ValueId v : values) take(take, fn().values[v].def);
    std::vector<OpId> out;
    std::ranges::copy_if(now, std::back_inserter(out), [&](OpId id) { return taken.contains(id); });
    return out;
  }
  void hoistDefinitions(Builder& b, const std::vector<ValueId>& live) {
    if (live.empty()) return;
    distribute(b, nest_, {AxisSet::first(fn().ops[nest_].dims.size()), slice(live), live});
  }

  static constexpr uint32_t last = ~0U; ///< the phase of what stays

  Module& m_;
  const FunctionId f_;
  const OpId nest_;
  const Costs& costs_;
  const RegionId body_;
  const std::vector<OpId> ops_;
  std::unordered_set<OpId> own_;
  std::unordered_map<DimSym, OpId> sizes_; ///< that the body defines
  std::vector<OpId> products_;             ///< by phases
  std::unordered_set<OpId> isProduct_;
  std::unordered_map<OpId, std::vector<OpId>> needs_, users_;
  std::unordered_map<OpId, uint32_t> phase_;
  bool areArrays_ = true; ///< whether all that goes from one nest to another can be stored
};

class ProductFission {
public:
  ProductFission(Module& m, FunctionId f, const Effects& effects, BatchingLog* log)
      : m_(m), f_(f), effects_(effects), costs_(m, m.functions[f]), log_(log) {}

  bool changed = false;

  void run(RegionId region, bool isInNest = false) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) run(inner, isInNest || fn().ops[id].kind == OpKind::Nest);
      if (!isOfRows(fn().ops[id], isInNest)) return true;
      BodyPhases phases(m_, f_, id, effects_, costs_);
      if (!phases.any()) return true;
      RowChecks checks(m_, f_, id, costs_, [&](OpId each) { return effects_.ofOp(fn(), each).any(); });
      if (log_) note(phases.products(), checks);
      if (!checks.mayMove()) return true;
      Builder b(m_, f_, region, fn().ops[id].loc);
      checks.move(b);
      phases.separate(b);
      fn().regions[region].ops.push_back(id);
      return !(changed = true);
    });
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void note(const std::vector<OpId>& products, const RowChecks& checks) const {
    Refused why;
    if (!checks.mayMove()) why = refusalOf(checks.obstacle());
    for (OpId id : products)
      log_->add({why ? why->reason : BatchingKind::Product, fn().ops[id].loc, why ? why->cause : LocId()});
  }

  Refusal refusalOf(OpId obstacle) const {
    const RowFunctions functions(m_, effects_);
    return functions.hasEffect(fn(), obstacle) ? functions.refusalOf(f_, obstacle)
                                               : Refusal{BatchingKind::Endless, fn().ops[obstacle].loc};
  }

  /// A nest of more than a few rows, of which strips are made: in another nest only if some are collected.
  bool isOfRows(const Op& op, bool isInNest) const {
    if (!isOverRows(costs_, op)) return false;
    const std::vector<OpId>& ops = fn().regions[op.regions[0]].ops;
    const std::vector<NestResult>& results = nestResults(op);
    const bool mayReduce = !isInNest || std::ranges::any_of(results, [](const NestResult& r) {
      return r.kind == NestResultKind::Collect;
    });
    return std::ranges::all_of(ops, [&](OpId id) { return !addsOrFilters(fn().ops[id]); }) &&
           std::ranges::all_of(results, [&](const NestResult& r) {
             return r.kind == NestResultKind::Collect ||
                    (mayReduce && r.kind == NestResultKind::Reduce && !isCombine(r));
           });
  }

  static bool addsOrFilters(const Op& op) {
    return op.kind == OpKind::Nest &&
           (nestAccs(op) > 0 || !std::ranges::all_of(nestResults(op), [](const NestResult& r) {
              return r.kind == NestResultKind::Collect || r.kind == NestResultKind::Reduce;
            }));
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  const Costs costs_;
  BatchingLog* const log_;
};

} // namespace

bool fissionProducts(Module& m, BatchingLog* log) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  const std::vector<bool> reached = reachedFunctions(m);
  return changeBodies(m, [&](FunctionId f) {
    ProductFission s(m, f, effects, reached[f.index] ? log : nullptr);
    s.run(m.functions[f].body);
    if (s.changed) eliminateDeadValues(m, f, effects);
    return s.changed;
  });
}

} // namespace melix::transforms
