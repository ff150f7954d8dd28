#include "transforms/expand_derivatives.h"

#include "core/clone.h"
#include "core/walk.h"
#include "transforms/ad.h"
#include "types/tangent.h"

#include <algorithm>

namespace melix::transforms {

namespace {

class Expander {
public:
  explicit Expander(Module& m) : ad_(m), m_(m) {}

  DerivativeResult run() {
    size_t functions = m_.functions.size();
    for (uint32_t i = 0; i < functions; ++i) findSweeps(FunctionId(i));
    for (uint32_t i = 0; i < functions; ++i) function(FunctionId(i));
    return {std::move(ad_.problems)};
  }

private:
  enum class State : uint8_t { New, Open, Done };

  /// Expands what the function contains and calls, callees first.
  void function(FunctionId f) {
    if (state_[f] != State::New) return;
    state_[f] = State::Open;
    fillSavedIn(f);
    std::vector<std::pair<OpId, RegionId>> derivatives;
    std::vector<FunctionId> callees;
    collect(f, m_.functions[f].body, derivatives, callees);
    if (m_.functions[f].customJvp.valid()) callees.push_back(m_.functions[f].customJvp);
    for (FunctionId c : callees) function(c);
    for (auto [id, region] : derivatives) {
      FunctionId callee = m_.functions[f].ops[id].as<DerivativeAttr>().callee;
      if (reachesOpenDerivative(callee)) {
        ad_.refuse(m_.functions[f].ops[id].loc, "a function whose derivative needs its own derivative");
        continue;
      }
      expand(f, region, id);
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

  /// What a function handles must be known before anything of it is differentiated: fills the records of pullbacks that
  /// its values hold.
  void fillSavedIn(FunctionId f) {
    if (sweeps_.empty()) return;
    std::unordered_set<TypeId> seen;
    std::vector<RecordId> found;
    std::function<void(TypeId)> look = [&](TypeId t) {
      if (!seen.insert(t).second) return;
      const types::Type type = m_.types[t];
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
      if (!reachesOpenDerivative(callee)) fillSaved(sweep, sweep.as<DerivativeAttr>());
    }
  }

  void collect(FunctionId f, RegionId r, std::vector<std::pair<OpId, RegionId>>& derivatives,
               std::vector<FunctionId>& callees) {
    const Function& fn = m_.functions[f];
    for (OpId id : fn.regions[r].ops) {
      const Op& o = fn.ops[id];
      if (o.kind == OpKind::Derivative) {
        derivatives.emplace_back(id, r);
        callees.push_back(o.as<DerivativeAttr>().callee);
      }
      if (o.kind == OpKind::Call) callees.push_back(o.as<CallAttr>().callee);
      for (RegionId inner : o.regions) collect(f, inner, derivatives, callees);
    }
  }

  /// A derivative op that is still being expanded further up and would be differentiated.
  bool reachesOpenDerivative(FunctionId f) {
    std::vector<FunctionId> stack{f};
    std::unordered_set<FunctionId> seen{f};
    while (!stack.empty()) {
      FunctionId at = stack.back();
      stack.pop_back();
      bool found = false;
      const Function& fn = m_.functions[at];
      forEachOp(fn, [&](OpId id) {
        const Op& o = fn.ops[id];
        if (o.kind == OpKind::Derivative) found = true;
        if (o.kind == OpKind::Call && seen.insert(o.as<CallAttr>().callee).second)
          stack.push_back(o.as<CallAttr>().callee);
      });
      if (found) return true;
    }
    return false;
  }

  /// Replaces the op by what `expand…` appends at its place.
  void expand(FunctionId f, RegionId region, OpId id) {
    Op op = m_.functions[f].ops[id];
    std::vector<OpId>& ops = m_.functions[f].regions[region].ops;
    auto at = std::find(ops.begin(), ops.end(), id);
    std::vector<OpId> after(at + 1, ops.end());
    ops.erase(at, ops.end());
    Emit e(m_, f, region, op.loc);
    const DerivativeAttr attr = op.as<DerivativeAttr>();
    std::vector<ValueId> out;
    switch (attr.mode) {
    case DerivativeMode::Jvp: out = jvp(op, attr, e); break;
    case DerivativeMode::Reverse: out = reverse(op, attr, e); break;
    case DerivativeMode::Forward: out = forward(op, attr, e); break;
    case DerivativeMode::Backward: out = backward(op, attr, e); break;
    }
    std::vector<OpId>& again = m_.functions[f].regions[region].ops;
    again.insert(again.end(), after.begin(), after.end());
    Replacement r;
    for (size_t i = 0; i < op.results.size() && i < out.size(); ++i) r.values[op.results[i]] = out[i];
    r.dims = dims_;
    dims_.clear();
    if (!out.empty()) replaceAll(m_, f, r);
  }

  /// Active leaves of the callee's parameters; reports what its derivative cannot go through.
  std::vector<LeafBits> wanted(const Op& op, const DerivativeAttr& attr) {
    const Function& f = m_.functions[attr.callee];
    std::vector<LeafBits> params;
    for (ValueId p : f.params()) params.push_back(LeafBits(ad_.leaves.count(f.typeOf(p)), false));
    for (uint32_t w : attr.wrt) params[w].assign(params[w].size(), true);
    const FunctionActivity& act = ad_.activity.of(attr.callee, params);
    for (AdProblem p : act.problems) {
      p.path.insert(p.path.begin(), op.loc);
      report(std::move(p));
    }
    for (size_t i = 0; i < act.lostResults.size(); ++i)
      if (act.lostResults[i] && ad_.leaves.count(f.results[i]) != 0)
        report({AdProblemKind::LostDerivative, lostPath(attr.callee, params, i, op.loc), "a float becomes an integer and comes back into the result"});
    bool anyActive = false, anyLeaf = false;
    for (size_t i = 0; i < act.results.size(); ++i) {
      bool relevant = attr.mode == DerivativeMode::Jvp || attr.mode == DerivativeMode::Forward ||
                      (i < attr.seeded.size() && attr.seeded[i]);
      for (bool b : act.results[i]) anyActive |= b && relevant, anyLeaf |= relevant;
    }
    if (anyLeaf && !anyActive && attr.mode == DerivativeMode::Reverse)
      report({AdProblemKind::Independent, {op.loc}, "the result does not depend on what it is differentiated by"});
    return params;
  }

  /// From the derivative through the calls to the place where the float became an integer.
  std::vector<LocId> lostPath(FunctionId f, const std::vector<LeafBits>& params, size_t result, LocId from) {
    std::vector<LocId> path{from};
    const FunctionActivity& act = ad_.activity.of(f, params);
    const Function& fn = m_.functions[f];
    ValueId v = terminator(fn, fn.body).operands[result];
    if (auto it = act.lost.find(v); it != act.lost.end()) path.push_back(it->second);
    return path;
  }

  void report(AdProblem p) {
    for (const AdProblem& q : ad_.problems)
      if (q.kind == p.kind && q.path == p.path) return;
    ad_.problems.push_back(std::move(p));
  }

  std::vector<bool> linearParams(const JvpCompanion& c) {
    std::vector<bool> out(m_.functions[c.source].params().size(), false);
    out.resize(m_.functions[c.function].params().size(), true);
    return out;
  }

  /// A call of `callee`; its result dims become those of the derivative op.
  OpId call(Emit& e, FunctionId callee, std::vector<ValueId> operands, const std::vector<DimId>& dims,
            const std::vector<DimSym>& resultDims) {
    OpId made = e.call(callee, std::move(operands), dims);
    const std::vector<DimSym> own = e.fn().ops[made].resultDims;
    for (size_t i = 0; i < own.size() && i < resultDims.size(); ++i)
      dims_[resultDims[i]] = m_.types.dims.symbol(own[i]);
    return made;
  }

  std::vector<ValueId> jvp(const Op& op, const DerivativeAttr& attr, Emit& e) {
    std::vector<LeafBits> bits = wanted(op, attr);
    const JvpCompanion& c = ad_.jvp(attr.callee, bits);
    ad_.finish();
    size_t arity = m_.functions[attr.callee].params().size();
    std::vector<ValueId> operands(op.operands.begin(), op.operands.begin() + static_cast<long>(arity));
    std::vector<ValueId> tangents;
    for (size_t i = 0; i < attr.wrt.size(); ++i) {
      TypeId t = e.typeOf(op.operands[attr.wrt[i]]);
      std::vector<ValueId> parts = ad_.leaves.takeApart(e, op.operands[arity + i], t, true);
      byParam_[attr.wrt[i]] = parts;
    }
    for (auto& [param, parts] : byParam_) operands.insert(operands.end(), parts.begin(), parts.end());
    byParam_.clear();
    OpId made = call(e, c.function, std::move(operands), op.dims, op.resultDims);
    const Function& f = m_.functions[attr.callee];
    size_t results = f.results.size();
    std::vector<ValueId> out;
    for (size_t i = 0; i < results; ++i) out.push_back(e.result(made, i));
    size_t at = results;
    for (size_t i = 0; i < results; ++i) {
      TypeId t = e.typeOf(out[i]);
      const std::vector<Leaf> leaves = ad_.leaves.of(t);
      if (leaves.empty()) continue;
      std::vector<ValueId> parts, primal;
      for (size_t k = 0; k < leaves.size(); ++k) {
        if (c.results[i][k]) {
          parts.push_back(e.result(made, at++));
          continue;
        }
        if (primal.empty()) primal = ad_.leaves.takeApart(e, out[i], t, false);
        parts.push_back(zeroLike(e, ad_.leaves, leaves[k].tangent, primal[k]));
      }
      out.push_back(ad_.leaves.putTogether(e, t, parts));
    }
    return out;
  }

  struct Pair {
    const JvpCompanion* jvp;
    Linearisation* lin;
  };
  Pair companions(const Op& op, const DerivativeAttr& attr) {
    const JvpCompanion& c = ad_.jvp(attr.callee, wanted(op, attr));
    ad_.finish();
    Linearisation& lin = ad_.linearise(c.function, linearParams(c));
    ad_.finish();
    return {&c, &lin};
  }

  /// Primal results and Saved.
  std::vector<ValueId> callForward(const Op& op, const Pair& p, Emit& e) {
    size_t arity = m_.functions[p.jvp->source].params().size();
    std::vector<ValueId> operands(op.operands.begin(), op.operands.begin() + static_cast<long>(arity));
    OpId made = call(e, p.lin->forward, std::move(operands), op.dims, op.resultDims);
    return e.fn().ops[made].results;
  }

  /// Cotangents of the `wrt` parameters. Types of results and parameters are those at this place.
  std::vector<ValueId> callBackward(const DerivativeAttr& attr, const Pair& p, ValueId saved, std::vector<DimId> dims,
                                    std::span<const ValueId> cotangents, Emit& e) {
    const Function& f = m_.functions[p.jvp->source];
    std::vector<ValueId> operands{saved};
    FunctionId callee = p.lin->backward.begin()->second;
    types::DimSubst atCall;
    for (size_t i = 0; i < dims.size(); ++i) atCall[m_.functions[callee].dimParams[i]] = dims[i];
    const std::vector<ValueId> params = m_.functions[callee].params();
    auto paramType = [&](size_t i) { return m_.types.substitute(m_.functions[callee].typeOf(params[i]), atCall); };
    size_t at = 1, next = 0;
    const std::vector<TypeId> results = f.results;
    for (size_t i = 0; i < results.size(); ++i) {
      std::vector<ValueId> parts;
      if (attr.seeded.size() > i && attr.seeded[i] && ad_.leaves.count(results[i]) != 0) {
        TypeId t = results[i];
        types::DimSubst own;
        for (size_t k = 0; k < f.dimParams.size(); ++k) own[f.dimParams[k]] = dims[k];
        for (size_t k = 0; k < f.resultDims.size(); ++k) own[f.resultDims[k]] = dims[f.dimParams.size() + k];
        t = m_.types.substitute(t, own);
        parts = ad_.leaves.takeApart(e, e.castDims(cotangents[next++], ad_.leaves.tangent(t)), t, true);
      }
      for (size_t k = 0; k < p.jvp->results[i].size(); ++k) {
        if (!p.jvp->results[i][k]) continue;
        if (!isLinearResult(p, i, k)) continue;
        TypeId want = paramType(at++);
        operands.push_back(parts.empty() ? e.zero(want) : e.castDims(parts[k], want));
      }
    }
    for (CotangentKind kind : p.lin->kinds)
      if (kind == CotangentKind::Accumulate) operands.push_back(e.zero(paramType(at++)));
    OpId made = e.call(callee, std::move(operands), dims);
    // Cotangents of the leaves of each parameter, in the order of `wrt`.
    std::vector<std::vector<ValueId>> byParam(f.params().size());
    size_t result = 0, kindAt = 0;
    for (size_t i = 0; i < p.jvp->params.size(); ++i)
      for (bool b : p.jvp->params[i])
        if (b) {
          bool given = p.lin->kinds[kindAt++] != CotangentKind::Reader;
          byParam[i].push_back(given ? e.result(made, result++) : ValueId());
        }
    std::vector<ValueId> out;
    types::DimSubst own;
    for (size_t k = 0; k < f.dimParams.size(); ++k) own[f.dimParams[k]] = dims[k];
    for (uint32_t w : attr.wrt) {
      TypeId t = m_.types.substitute(m_.functions[p.jvp->source].typeOf(m_.functions[p.jvp->source].params()[w]), own);
      out.push_back(ad_.leaves.putTogether(e, t, byParam[w]));
    }
    return out;
  }

  /// Position of a tangent result of the companion, and whether it depends on the tangents at all.
  bool isLinearResult(const Pair& p, size_t result, size_t leaf) {
    size_t at = m_.functions[p.jvp->source].results.size();
    for (size_t i = 0; i < p.jvp->results.size(); ++i)
      for (size_t k = 0; k < p.jvp->results[i].size(); ++k) {
        if (!p.jvp->results[i][k]) continue;
        if (i == result && k == leaf) return p.lin->linearResults[at];
        ++at;
      }
    return false;
  }

  std::vector<ValueId> reverse(const Op& op, const DerivativeAttr& attr, Emit& e) {
    Pair p = companions(op, attr);
    size_t arity = m_.functions[attr.callee].params().size(), results = m_.functions[attr.callee].results.size();
    std::vector<ValueId> given = callForward(op, p, e);
    std::vector<DimId> dims = op.dims;
    for (DimSym s : op.resultDims) dims.push_back(dims_.count(s) ? dims_.at(s) : m_.types.dims.symbol(s));
    std::vector<ValueId> out(given.begin(), given.begin() + static_cast<long>(results));
    std::vector<ValueId> grads =
        callBackward(attr, p, given.back(), std::move(dims), std::span(op.operands).subspan(arity), e);
    out.insert(out.end(), grads.begin(), grads.end());
    return out;
  }

  /// The record that the checker named holds the companion's Saved as its only field; the sizes of the call are hidden
  /// with it.
  Pair fillSaved(const Op& op, const DerivativeAttr& attr) {
    Pair p = companions(op, attr);
    if (!m_.types.recordInfo(attr.saved).cases[0].fields.empty()) return p;
    std::vector<DimId> dims;
    std::vector<DimSym> hidden;
    const Function& f = m_.functions[attr.callee];
    for (size_t i = 0; i < f.dimParams.size() + f.resultDims.size(); ++i) {
      hidden.push_back(m_.types.dims.newSym({"", types::DimSymKind::Unknown, 0, {}}));
      if (i < f.dimParams.size()) dims.push_back(m_.types.dims.symbol(hidden.back()));
    }
    types::fillSaved(m_.types, attr.saved, m_.types.pack(m_.types.record(p.lin->saved, dims), hidden));
    return p;
  }

  std::vector<ValueId> forward(const Op& op, const DerivativeAttr& attr, Emit& e) {
    Pair p = fillSaved(op, attr);
    std::vector<ValueId> out = callForward(op, p, e);
    out.erase(out.begin() + static_cast<long>(m_.functions[attr.callee].results.size()), out.end() - 1);
    TypeId record = e.typeOf(op.results.back()), field = m_.types.fieldType(record, 0, 0);
    if (m_.types.kind(field) == TypeKind::Pack) {
      Op pack = Emit::simple(OpKind::Pack, {out.back()});
      pack.dims = op.dims;
      for (DimSym s : op.resultDims) pack.dims.push_back(dims_.at(s));
      out.back() = e.one(std::move(pack), field);
    }
    out.back() = e.make(record, {out.back()});
    return out;
  }

  std::vector<ValueId> backward(const Op& op, const DerivativeAttr& attr, Emit& e) {
    Pair p = fillSaved(op, attr);
    ValueId saved = e.get(op.operands[0], {PathStep{StepKind::Field, 0, {}, 1}}, {},
                          m_.types.fieldType(e.typeOf(op.operands[0]), 0, 0));
    std::vector<DimId> dims;
    if (const TypeId packed = e.typeOf(saved); m_.types.kind(packed) == TypeKind::Pack) {
      Op open = Emit::simple(OpKind::Unpack, {saved});
      for (uint32_t k = 0; k < m_.types[packed].number; ++k) {
        open.resultDims.push_back(e.newDim("K"));
        dims.push_back(m_.types.dims.symbol(open.resultDims.back()));
      }
      saved = e.one(std::move(open), m_.types.openPack(packed, dims));
    }
    std::vector<ValueId> out = callBackward(attr, p, saved, dims, std::span(op.operands).subspan(1), e);
    for (size_t i = 0; i < out.size(); ++i) out[i] = e.castDims(out[i], e.typeOf(op.results[i]));
    return out;
  }

  Ad ad_;
  Module& m_;
  std::unordered_map<FunctionId, State> state_;
  std::map<RecordId, Op> sweeps_; ///< by what they save or use: a Forward or Backward op
  std::map<uint32_t, std::vector<ValueId>> byParam_;
  types::DimSubst dims_;
};

} // namespace

DerivativeResult expandDerivatives(core::Module& module) { return Expander(module).run(); }

} // namespace melix::transforms
