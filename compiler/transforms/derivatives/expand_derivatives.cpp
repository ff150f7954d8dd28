#include "transforms/derivatives/expand_derivatives.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "transforms/derivatives/expand_derivative_op.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <set>

namespace melix::transforms {

namespace {

/// Whether anything depends on what is differentiated, however flat.
class Dependence {
public:
  explicit Dependence(Module& m)
      : m_(m), leaves_(m.types, LeafKind::Inside), activity_(m, leaves_, RoundingKind::Flows) {}

  /// Whether a gradient is asked for by what the result cannot depend on, not by roundings either, whose
  /// derivative is 0. Parts of records are distinguished wherever these are; elements of an array are not,
  /// and neither are the cases of an enum.
  bool isMissing(const DerivativeAttr& attr) {
    if (attr.mode != DerivativeMode::Reverse) return false;
    const Function& f = m_.functions[attr.callee];
    std::vector<LeafBits> params;
    for (ValueId p : f.params()) params.push_back(LeafBits(leaves_.count(f.typeOf(p)), false));
    for (uint32_t w : attr.wrt) params[w].assign(params[w].size(), true);
    const FunctionActivity& act = activity_.of(attr.callee, params);
    bool anyLeaf = false, depends = false;
    for (size_t i = 0; i < act.results.size() && i < attr.seeded.size(); ++i)
      for (bool b : act.results[i]) anyLeaf |= attr.seeded[i], depends |= b && attr.seeded[i];
    return anyLeaf && !depends;
  }

private:
  Module& m_;
  Leaves leaves_;
  Activity activity_;
};

class Expander {
public:
  explicit Expander(Module& m) : ad_(m), m_(m), dependence_(m) {}

  DerivativeResult run() {
    size_t functions = m_.functions.size();
    auto hasBody = [&](uint32_t i) { return m_.functions[FunctionId(i)].body.valid(); };
    for (uint32_t i = 0; i < functions; ++i)
      if (hasBody(i)) findSweeps(FunctionId(i));
    for (uint32_t i = 0; i < functions; ++i)
      if (hasBody(i)) function(FunctionId(i));
    return {std::move(ad_.problems)};
  }

private:
  enum class State : uint8_t { New, Open, Done };
  using Site = std::pair<FunctionId, OpId>;

  /// Expands what the function contains and calls, callees first.
  void function(FunctionId f) {
    if (state_[f] != State::New) return;
    state_[f] = State::Open;
    fillSavedIn(f);
    std::vector<OpId> derivatives;
    std::vector<FunctionId> callees;
    collect(f, derivatives, callees);
    if (m_.functions[f].customJvp.valid()) callees.push_back(m_.functions[f].customJvp);
    for (FunctionId c : callees) function(c);
    std::unordered_set<OpId> ready;
    for (OpId id : derivatives) {
      FunctionId callee = m_.functions[f].ops[id].as<DerivativeAttr>().callee;
      if (const std::vector<Site> left = derivativesIn(callee); left.empty())
        ready.insert(id);
      else
        refuse({f, id}, left);
    }
    if (!ready.empty()) {
      LiveUses uses(m_, f);
      expandIn(f, m_.functions[f].body, ready, uses);
    }
    state_[f] = State::Done;
  }

  void findSweeps(FunctionId f) {
    const Function& fn = m_.functions[f];
    forEachOp(fn, [&](OpId id) {
      if (fn.ops[id].kind != OpKind::Derivative) return;
      const DerivativeAttr& attr = fn.ops[id].as<DerivativeAttr>();
      if (attr.saved.valid()) sweeps_.try_emplace(attr.saved, fn.ops[id]);
    });
  }

  /// What a function handles must be known before anything of it is differentiated: fills the records of
  /// pullbacks that its values hold.
  void fillSavedIn(FunctionId f) {
    if (sweeps_.empty()) return;
    std::unordered_set<TypeId> seen;
    std::vector<RecordId> found;
    std::function<void(TypeId)> look = [&](TypeId t) {
      if (!seen.insert(t).second) return;
      const types::Type& type = m_.types[t];
      for (TypeId part : type.parts) look(part);
      if (!type.record.valid()) return;
      if (sweeps_.count(type.record)) found.push_back(type.record);
      for (const types::EnumCase& c : m_.types.recordInfo(type.record).cases)
        for (const types::Field& field : c.fields) look(field.type);
    };
    for (const Value& v : m_.functions[f].values) look(v.type);
    for (RecordId record : found) {
      const Op sweep = sweeps_.at(record);
      FunctionId callee = sweep.as<DerivativeAttr>().callee;
      function(callee);
      if (derivativesIn(callee).empty()) OpExpansion(ad_, sweep, wanted(sweep)).fillSaved();
    }
  }

  void collect(FunctionId f, std::vector<OpId>& derivatives, std::vector<FunctionId>& callees) {
    const Function& fn = m_.functions[f];
    forEachOp(fn, [&](OpId id) {
      const Op& o = fn.ops[id];
      if (o.kind == OpKind::Derivative) {
        derivatives.push_back(id);
        callees.push_back(o.as<DerivativeAttr>().callee);
      }
      if (o.kind == OpKind::Call) callees.push_back(o.as<CallAttr>().callee);
    });
  }

  /// Derivative ops that the function reaches and that were not expanded: they are further up, or were
  /// refused.
  std::vector<Site> derivativesIn(FunctionId f) {
    std::vector<Site> found;
    if (withoutDerivatives_.contains(f)) return found;
    std::vector<FunctionId> stack{f};
    std::unordered_set<FunctionId> seen{f};
    while (!stack.empty()) {
      FunctionId at = stack.back();
      stack.pop_back();
      const Function& fn = m_.functions[at];
      forEachOp(fn, [&](OpId id) {
        const Op& o = fn.ops[id];
        if (o.kind == OpKind::Derivative) found.emplace_back(at, id);
        if (o.kind != OpKind::Call || withoutDerivatives_.contains(o.as<CallAttr>().callee)) return;
        if (seen.insert(o.as<CallAttr>().callee).second) stack.push_back(o.as<CallAttr>().callee);
      });
    }
    if (found.empty()) withoutDerivatives_.insert(seen.begin(), seen.end());
    return found;
  }

  /// Says so unless all that stands in the way was refused itself.
  void refuse(Site site, const std::vector<Site>& inTheWay) {
    if (!std::all_of(inTheWay.begin(), inTheWay.end(), [&](Site s) { return refused_.count(s) != 0; }))
      ad_.refuse(m_.functions[site.first].ops[site.second].loc,
                 "a function whose derivative needs its own derivative");
    refused_.insert(site);
  }

  /// Replaces the ops that are ready by what their expansions append at their places.
  void expandIn(FunctionId f, RegionId region, const std::unordered_set<OpId>& ready, LiveUses& uses) {
    rewriteRegion(m_, f, region, [&](OpId id) {
      for (RegionId inner : m_.functions[f].ops[id].regions) expandIn(f, inner, ready, uses);
      return !ready.contains(id) || expand(f, region, id, uses);
    });
  }

  /// Whether the op stays, because it cannot be expanded.
  bool expand(FunctionId f, RegionId region, OpId id, LiveUses& uses) {
    const Op& op = m_.functions[f].ops[id];
    Emit e(m_, f, region, op.loc);
    const std::vector<ValueId> out = OpExpansion(ad_, op, wanted(op)).run(e);
    noteOpened(f, id);
    uses.leave(id);
    for (OpId made : m_.functions[f].regions[region].ops) uses.enter(made, region);
    for (size_t i = 0; i < op.results.size() && i < out.size(); ++i) uses.replace(op.results[i], out[i]);
    return false;
  }

  /// Active leaves of the callee's parameters; reports what its derivative cannot go through.
  std::vector<LeafBits> wanted(const Op& op) {
    const DerivativeAttr& attr = op.as<DerivativeAttr>();
    const Function& f = m_.functions[attr.callee];
    std::vector<LeafBits> params;
    for (ValueId p : f.params()) params.push_back(LeafBits(ad_.leaves.count(f.typeOf(p)), false));
    for (uint32_t w : attr.wrt) params[w].assign(params[w].size(), true);
    const FunctionActivity& act = ad_.activity.of(attr.callee, params);
    for (AdProblem p : act.problems) {
      p.path.insert(p.path.begin(), op.loc);
      report(std::move(p));
    }
    bool lost = false;
    for (size_t i = 0; i < f.results.size(); ++i)
      if (std::vector<LocId> path = ad_.activity.lostPath(act, i); !path.empty()) {
        path.insert(path.begin(), op.loc);
        report({AdProblemKind::LostDerivative, std::move(path),
                "a float becomes an integer and comes back into the result"});
        lost = true;
      }
    if (!lost && dependence_.isMissing(attr))
      report({AdProblemKind::Independent,
              {op.loc},
              "the result does not depend on what it is differentiated by"});
    return params;
  }

  void report(AdProblem p) {
    for (const AdProblem& q : ad_.problems)
      if (q.kind == p.kind && q.path == p.path) return;
    ad_.problems.push_back(std::move(p));
  }

  Ad ad_;
  Module& m_;
  Dependence dependence_;
  std::unordered_map<FunctionId, State> state_;
  std::set<Site> refused_;
  std::unordered_set<FunctionId> withoutDerivatives_; ///< that reach no derivative op
  std::map<RecordId, Op> sweeps_;                     ///< by what they save or use: a Forward or Backward op
};

} // namespace

DerivativeResult expandDerivatives(core::Module& module) {
  core::require(module, {core::State::FunctionsKnown});
  DerivativeResult result = Expander(module).run();
  raiseAll(module);
  return result;
}

std::vector<LocId> independentGradients(core::Module& module) {
  core::require(module, {core::State::FunctionsKnown});
  std::vector<LocId> out;
  Dependence dependence(module);
  forEachBody(module, [&](FunctionId f) {
    const Function& fn = module.functions[f];
    forEachOp(fn, [&](OpId id) {
      const Op& op = fn.ops[id];
      if (op.kind == OpKind::Derivative && dependence.isMissing(op.as<DerivativeAttr>()))
        out.push_back(op.loc);
    });
  });
  return out;
}

} // namespace melix::transforms
