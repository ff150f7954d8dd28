#include "transforms/derivatives/expand_derivative_op.h"

#include "types/tangent.h"

namespace melix::transforms {

OpExpansion::OpExpansion(Ad& ad, const Op& op, std::vector<LeafBits> active)
    : ad_(ad), op_(op), attr_(op.as<DerivativeAttr>()), active_(std::move(active)) {}

std::vector<ValueId> OpExpansion::run(Emit& e) {
  switch (attr_.mode) {
  case DerivativeMode::Jvp: return jvp(e);
  case DerivativeMode::Reverse: return reverse(e);
  case DerivativeMode::Forward: return forward(e);
  case DerivativeMode::Backward: return backward(e);
  }
  return {};
}

std::vector<ValueId> OpExpansion::arguments() const {
  return {op_.operands.begin(), op_.operands.begin() + static_cast<long>(arity())};
}

/// Parameters differentiated by, the sizes of whose tangents only their values determine.
std::vector<uint32_t> OpExpansion::sizedParams() const {
  std::vector<uint32_t> out;
  for (uint32_t w : attr_.wrt)
    if (sizedByValue(types(), paramType(w))) out.push_back(w);
  return out;
}

/// Results, the sizes of whose cotangents only their values determine.
std::vector<uint32_t> OpExpansion::sizedResults() const {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < callee().results.size(); ++i)
    if (sizedByValue(types(), callee().results[i])) out.push_back(i);
  return out;
}

/// A call that defines the derivative op's result dims in its place.
OpId OpExpansion::call(Emit& e, FunctionId f, std::vector<ValueId> operands) {
  OpId made = e.call(f, std::move(operands), op_.dims);
  Op& op = e.fn().ops[made];
  types::DimSubst dims;
  for (size_t i = 0; i < op.resultDims.size(); ++i) {
    dims[op.resultDims[i]] = types().dims.symbol(op_.resultDims[i]);
    op.resultDims[i] = op_.resultDims[i];
  }
  for (ValueId v : op.results) e.fn().values[v].type = types().substitute(e.typeOf(v), dims);
  return made;
}

// --- leaves
// -------------------------------------------------------------------------------------------------------

/// The part of a tangent of `type` at a leaf; none where a zero was written down, or where the checker saw no
/// tangent (of a function value, which has one by now).
ValueId OpExpansion::leafOf(Emit& e, ValueId tangent, TypeId type, const Leaf& leaf) {
  auto definedBy = [&](OpKind kind) {
    OpId def = e.fn().values[tangent].def;
    return def.valid() && e.fn().ops[def].kind == kind ? def : OpId();
  };
  for (uint32_t k : leaf.path) {
    if (types().isUnit(e.typeOf(tangent))) return {};
    type = ad_.leaves.kid(type, k);
    if (OpId make = definedBy(OpKind::Make); make.valid())
      tangent = ValueId(e.fn().ops[make].operands[k]);
    else {
      const types::Type& whole = types()[e.typeOf(tangent)];
      TypeId part =
          whole.kind == TypeKind::Struct ? types().fieldType(e.typeOf(tangent), 0, k) : whole.parts[k];
      tangent = e.kid(tangent, k, part);
    }
  }
  if (types().isUnit(e.typeOf(tangent)) || definedBy(OpKind::Zero).valid()) return {};
  return tangent;
}

/// A zero of a tangent type; `primal`, of `type`, says its sizes where the type does not.
ValueId OpExpansion::zeroOf(Emit& e, TypeId tangent, ValueId primal, TypeId type, const Leaf& leaf) {
  if (!sizedByValue(types(), tangent) || !primal.valid()) return e.zero(tangent);
  for (uint32_t k : leaf.path) {
    type = ad_.leaves.kid(type, k);
    primal = e.kid(primal, k, type);
  }
  return zeroLike(e, ad_.leaves, tangent, primal);
}

/// What a program gives as a tangent may be a zero without sizes, or have others: it is added to a zero of
/// the right ones, which panics if they do not agree.
ValueId OpExpansion::sizedLike(Emit& e, ValueId part, TypeId tangent, ValueId primal, TypeId type,
                               const Leaf& leaf) {
  if (!part.valid()) return zeroOf(e, tangent, primal, type, leaf);
  part = restated(e, ad_.leaves, tangent, part);
  if (!sizedByValue(types(), tangent) || !primal.valid()) return part;
  return e.add(zeroOf(e, tangent, primal, type, leaf), part);
}

/// The tangent of a value of `type` from its leaves, at the tangent type that the checker gave it.
ValueId OpExpansion::together(Emit& e, TypeId type, TypeId declared, const std::vector<ValueId>& leaves,
                              size_t& at) {
  if (types().isUnit(declared)) {
    at += ad_.leaves.count(type);
    return e.make(declared, {});
  }
  if (!ad_.leaves.isBundle(type)) return restated(e, ad_.leaves, declared, leaves[at++]);
  std::vector<ValueId> parts;
  const types::Type& whole = types()[declared];
  for (uint32_t k = 0, n = ad_.leaves.kidCount(type); k < n; ++k) {
    TypeId part = whole.kind == TypeKind::Struct ? types().fieldType(declared, 0, k) : whole.parts[k];
    parts.push_back(together(e, ad_.leaves.kid(type, k), part, leaves, at));
  }
  return e.make(declared, std::move(parts));
}

// --- forward mode
// -------------------------------------------------------------------------------------------------

std::vector<ValueId> OpExpansion::jvp(Emit& e) {
  const JvpCompanion& c = ad_.jvp(attr_.callee, active_);
  ad_.finish();
  std::vector<ValueId> operands = arguments();
  std::map<uint32_t, ValueId> tangentOf;
  for (size_t i = 0; i < attr_.wrt.size(); ++i) tangentOf[attr_.wrt[i]] = seeds()[i];
  for (auto [param, tangent] : tangentOf) {
    ValueId x = op_.operands[param];
    TypeId t = e.typeOf(x);
    for (const Leaf& leaf : std::vector<Leaf>(ad_.leaves.of(t))) {
      operands.push_back(sizedLike(e, leafOf(e, tangent, t, leaf), leaf.tangent, x, t, leaf));
    }
  }
  OpId made = call(e, c.function, std::move(operands));
  std::vector<ValueId> out(e.fn().ops[made].results.begin(),
                           e.fn().ops[made].results.begin() + static_cast<long>(callee().results.size()));
  size_t next = out.size();
  for (size_t i = 0, results = out.size(); i < results && out.size() < op_.results.size(); ++i) {
    TypeId t = e.typeOf(out[i]);
    std::vector<ValueId> parts;
    const std::vector<Leaf> leaves = ad_.leaves.of(t);
    for (size_t k = 0; k < leaves.size(); ++k)
      parts.push_back(c.results[i][k] ? e.result(made, next++)
                                      : zeroOf(e, leaves[k].tangent, out[i], t, leaves[k]));
    if (leaves.empty() && !types().isUnit(e.typeOf(op_.results[out.size()]))) continue;
    size_t at = 0;
    TypeId declared = e.typeOf(op_.results[out.size()]);
    out.push_back(together(e, t, declared, parts, at));
  }
  return out;
}

// --- reverse mode
// -------------------------------------------------------------------------------------------------

void OpExpansion::companions() {
  jvp_ = &ad_.jvp(attr_.callee, active_);
  ad_.finish();
  std::vector<bool> linear(ad_.module.functions[jvp_->source].params().size(), false);
  linear.resize(ad_.module.functions[jvp_->function].params().size(), true);
  lin_ = &ad_.linearise(jvp_->function, linear);
  ad_.finish();
}

std::vector<ValueId> OpExpansion::callForward(Emit& e) {
  OpId made = call(e, lin_->forward, arguments());
  const Results& all = e.fn().ops[made].results;
  std::vector<ValueId> out(all.begin(), all.begin() + static_cast<long>(callee().results.size()));
  out.push_back(all.back());
  return out;
}

std::vector<ValueId> OpExpansion::reverse(Emit& e) {
  companions();
  std::vector<ValueId> out = callForward(e);
  Sweep sweep{out.back(), op_.dims, {}, {}};
  out.pop_back();
  for (uint32_t i = 0; i < out.size(); ++i) sweep.results[i] = out[i];
  for (DimSym s : op_.resultDims) sweep.dims.push_back(types().dims.symbol(s));
  for (uint32_t w : sizedParams()) sweep.sizedArguments[w] = op_.operands[w];
  for (ValueId slope : callBackward(e, sweep, seeds())) out.push_back(slope);
  return out;
}

/// The record that the checker named keeps the companion's Saved, and arguments and results whose sizes
/// nothing else determines; the sizes of the call are hidden with them.
void OpExpansion::fillSaved() {
  companions();
  if (!types().recordInfo(attr_.saved).cases[0].fields.empty()) return;
  std::vector<DimSym> hidden;
  types::DimSubst own;
  std::vector<DimId> at;
  auto hide = [&](DimSym s) {
    hidden.push_back(ad_.freshDim(s));
    own[s] = types().dims.symbol(hidden.back());
  };
  for (DimSym s : callee().dimParams) {
    hide(s);
    at.push_back(own.at(s));
  }
  for (DimSym s : callee().resultDims) hide(s);
  std::vector<TypeId> parts{types().record(lin_->saved, at)};
  for (uint32_t w : sizedParams()) parts.push_back(types().substitute(paramType(w), own));
  for (uint32_t i : sizedResults()) parts.push_back(types().substitute(callee().results[i], own));
  types::fillSaved(types(), attr_.saved, types().pack(types().tuple(parts), hidden));
}

std::vector<ValueId> OpExpansion::forward(Emit& e) {
  fillSaved();
  std::vector<ValueId> out = callForward(e), kept{out.back()};
  for (uint32_t w : sizedParams()) kept.push_back(op_.operands[w]);
  for (uint32_t i : sizedResults()) kept.push_back(out[i]);
  std::vector<TypeId> parts;
  for (ValueId v : kept) parts.push_back(e.typeOf(v));
  TypeId record = e.typeOf(op_.results.back()), field = types().fieldType(record, 0, 0);
  out.back() = e.make(types().tuple(parts), std::move(kept));
  if (types().kind(field) == TypeKind::Pack) {
    Op pack = Emit::simple(OpKind::Pack, {out.back()});
    pack.dims = op_.dims;
    for (DimSym s : op_.resultDims) pack.dims.push_back(types().dims.symbol(s));
    out.back() = e.one(std::move(pack), field);
  }
  out.back() = e.make(record, {out.back()});
  return out;
}

std::vector<ValueId> OpExpansion::backward(Emit& e) {
  fillSaved();
  Sweep sweep;
  ValueId kept = e.kid(op_.operands[0], 0, types().fieldType(e.typeOf(op_.operands[0]), 0, 0));
  if (const TypeId packed = e.typeOf(kept); types().kind(packed) == TypeKind::Pack) {
    Op open = Emit::simple(OpKind::Unpack, {kept});
    for (uint32_t k = 0; k < types()[packed].number; ++k) {
      open.resultDims.push_back(e.newDim("K"));
      sweep.dims.push_back(types().dims.symbol(open.resultDims.back()));
    }
    kept = e.one(std::move(open), types().openPack(packed, sweep.dims));
  }
  const std::vector<TypeId>& parts = types()[e.typeOf(kept)].parts;
  sweep.saved = e.kid(kept, 0, parts[0]);
  uint32_t next = 1;
  auto sized = [&] {
    ValueId v = e.kid(kept, next, parts[next]);
    ++next;
    return v;
  };
  for (uint32_t w : sizedParams()) sweep.sizedArguments[w] = sized();
  for (uint32_t i : sizedResults()) sweep.results[i] = sized();
  std::vector<ValueId> out = callBackward(e, sweep, std::span(op_.operands).subspan(1));
  return out;
}

/// Cotangents of the callee's results, for those that depend on the tangents.
std::vector<ValueId> OpExpansion::cotangentOperands(Emit& e, const Sweep& sweep,
                                                    std::span<const ValueId> cotangents,
                                                    const types::DimSubst& here,
                                                    const std::vector<TypeId>& wanted) {
  std::vector<ValueId> out;
  size_t next = 0, tangent = callee().results.size();
  for (size_t i = 0; i < callee().results.size(); ++i) {
    TypeId t = types().substitute(callee().results[i], here);
    ValueId given = i < attr_.seeded.size() && attr_.seeded[i] && ad_.leaves.count(t) != 0
                        ? cotangents[next++]
                        : ValueId();
    const std::vector<Leaf> leaves = ad_.leaves.of(t);
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (!jvp_->results[i][k] || !lin_->linearResults[tangent++]) continue;
      TypeId want = wanted[1 + out.size()];
      ValueId part = given.valid() ? leafOf(e, given, t, leaves[k]) : ValueId();
      auto primal = sweep.results.find(static_cast<uint32_t>(i));
      out.push_back(
          sizedLike(e, part, want, primal == sweep.results.end() ? ValueId() : primal->second, t, leaves[k]));
    }
  }
  return out;
}

/// Cotangents of the parameters differentiated by.
std::vector<ValueId> OpExpansion::callBackward(Emit& e, const Sweep& sweep,
                                               std::span<const ValueId> cotangents) {
  FunctionId back = lin_->backward.begin()->second;
  types::DimSubst atCall, here;
  std::vector<TypeId> wanted;
  {
    const Function& f = ad_.module.functions[back];
    for (size_t i = 0; i < sweep.dims.size(); ++i) atCall[f.dimParams[i]] = sweep.dims[i];
    for (ValueId p : f.params()) wanted.push_back(types().substitute(f.typeOf(p), atCall));
  }
  for (size_t k = 0; k < callee().dimParams.size(); ++k) here[callee().dimParams[k]] = sweep.dims[k];
  for (size_t k = 0; k < callee().resultDims.size(); ++k)
    here[callee().resultDims[k]] = sweep.dims[callee().dimParams.size() + k];

  std::vector<ValueId> operands = cotangentOperands(e, sweep, cotangents, here, wanted);
  operands.insert(operands.begin(), sweep.saved);
  // Accumulators for arrays and lists, in the order of the leaves differentiated by.
  size_t kind = 0;
  for (uint32_t i = 0; i < jvp_->params.size(); ++i) {
    TypeId t = types().substitute(paramType(i), here);
    const std::vector<Leaf> leaves = ad_.leaves.of(t);
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (!jvp_->params[i][k] || lin_->kinds[kind++] != CotangentKind::Accumulate) continue;
      auto sized = sweep.sizedArguments.find(i);
      ValueId primal = sized == sweep.sizedArguments.end() ? ValueId() : sized->second;
      operands.push_back(zeroOf(e, wanted[operands.size()], primal, t, leaves[k]));
    }
  }
  OpId made = e.call(back, std::move(operands), sweep.dims);

  std::vector<std::vector<ValueId>> byParam(arity());
  size_t result = 0;
  kind = 0;
  for (size_t i = 0; i < jvp_->params.size(); ++i)
    for (bool b : jvp_->params[i])
      if (b)
        byParam[i].push_back(lin_->kinds[kind++] == CotangentKind::Reader ? ValueId()
                                                                          : e.result(made, result++));
  std::vector<ValueId> out;
  size_t first = op_.results.size() - attr_.wrt.size();
  for (size_t k = 0; k < attr_.wrt.size(); ++k) {
    size_t at = 0;
    TypeId declared = e.typeOf(op_.results[first + k]);
    out.push_back(
        together(e, types().substitute(paramType(attr_.wrt[k]), here), declared, byParam[attr_.wrt[k]], at));
  }
  return out;
}

} // namespace melix::transforms
