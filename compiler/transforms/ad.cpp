#include "transforms/ad.h"

namespace melix::transforms {

void Ad::refuse(LocId loc, std::string reason) {
  for (const AdProblem& p : problems)
    if (p.path.back() == loc && p.reason == reason) return;
  problems.push_back({AdProblemKind::Unsupported, {loc}, std::move(reason)});
}

const JvpCompanion::Followed* Ad::primalOf(FunctionId g, ValueId t) const {
  auto companion = companions_.find(g);
  if (companion == companions_.end()) return nullptr;
  auto it = companion->second->primalOf.find(t);
  return it == companion->second->primalOf.end() ? nullptr : &it->second;
}

const types::DimSubst& Ad::dimsOf(FunctionId g) const {
  static const types::DimSubst none;
  auto companion = companions_.find(g);
  return companion == companions_.end() ? none : companion->second->dimOf;
}

LocId Ad::derived(LocId loc) {
  if (!loc.valid()) return loc;
  auto [it, isNew] = derived_.try_emplace(loc);
  if (!isNew) return it->second;
  if (module.locs[loc].kind == LocKind::DerivativeOf) return it->second = loc;
  Loc d;
  d.kind = LocKind::DerivativeOf;
  d.span = module.locs[loc].span;
  d.inner = loc;
  d.function = module.locs[loc].function;
  LocId made = module.locs.add(d);
  return derived_[loc] = made;
}

DimSym Ad::freshDim(DimSym like) {
  types::DimSymInfo info = module.types.dims.info(like);
  return module.types.dims.newSym(info);
}

static std::string bitText(const std::vector<LeafBits>& params) {
  std::string text;
  for (const LeafBits& p : params) {
    if (!text.empty()) text += ' ';
    for (bool b : p) text += b ? '1' : '0';
  }
  return text;
}

const JvpCompanion& Ad::jvp(FunctionId f, const std::vector<LeafBits>& params) {
  auto [it, isNew] = jvps_.try_emplace({f, params});
  JvpCompanion& c = it->second;
  if (!isNew) return c;
  c.source = module.functions[f].customJvp.valid() ? f : prepare(*this, f);
  f = c.source;
  const FunctionActivity& act = activity.of(f, params);
  c.params = params;
  c.results = act.results;

  Function g;
  {
    const Function& from = module.functions[f];
    g.name = "jvp(" + from.name + ")";
    g.key = "jvp " + bitText(params) + " of " + from.key;
    g.device = from.device;
    g.loc = derived(from.loc);
    types::DimSubst dims;
    auto define = [&](DimSym s) {
      DimSym fresh = freshDim(s);
      dims[s] = module.types.dims.symbol(fresh);
      return fresh;
    };
    for (DimSym s : from.dimParams) g.dimParams.push_back(define(s));
    for (DimSym s : from.resultDims) g.resultDims.push_back(define(s));
    g.body = g.regions.add(Region{});
    auto addParam = [&](TypeId t, NameId hint) {
      Region& body = g.regions[g.body];
      uint32_t index = static_cast<uint32_t>(body.params.size());
      body.params.push_back(g.values.add(Value{t, {}, g.body, index, hint}));
      return index;
    };
    std::vector<std::vector<uint32_t>> tangentParams, tangentResults;
    for (ValueId p : from.params())
      addParam(module.types.substitute(from.typeOf(p), dims), from.values[p].hint);
    for (size_t i = 0; i < params.size(); ++i) {
      TypeId t = module.types.substitute(from.typeOf(from.params()[i]), dims);
      const std::vector<Leaf> own = leaves.of(t);
      tangentParams.emplace_back(own.size(), ~0u);
      for (size_t k = 0; k < own.size(); ++k)
        if (params[i][k]) tangentParams[i][k] = addParam(own[k].tangent, {});
    }
    for (TypeId t : from.results) g.results.push_back(module.types.substitute(t, dims));
    size_t primalResults = g.results.size();
    for (size_t i = 0; i < primalResults; ++i) {
      const std::vector<Leaf> own = leaves.of(g.results[i]);
      tangentResults.emplace_back(own.size(), ~0u);
      for (size_t k = 0; k < own.size(); ++k)
        if (c.results[i][k]) {
          tangentResults[i][k] = static_cast<uint32_t>(g.results.size());
          g.results.push_back(own[k].tangent);
        }
    }
    for (InoutPair p : from.inouts) {
      g.inouts.push_back(p);
      for (size_t k = 0; k < tangentParams[p.param].size(); ++k)
        if (tangentParams[p.param][k] != ~0u && tangentResults[p.result][k] != ~0u)
          g.inouts.push_back({tangentParams[p.param][k], tangentResults[p.result][k]});
    }
  }
  c.function = module.functions.add(std::move(g));
  companions_[c.function] = &c;
  jvpQueue_.push_back(&c);
  return c;
}

static CotangentKind cotangentKind(const Function& g, const types::TypeStore& types, uint32_t param) {
  TypeId t = g.typeOf(g.params()[param]);
  if (types.kind(t) == TypeKind::Acc) return CotangentKind::Reader;
  for (InoutPair p : g.inouts)
    if (p.param == param) return CotangentKind::Inout;
  return types.kind(t) == TypeKind::Array || types.kind(t) == TypeKind::List ? CotangentKind::Accumulate
                                                                             : CotangentKind::Return;
}

Linearisation& Ad::linearise(FunctionId g, const std::vector<bool>& linearParams) {
  auto [it, isNew] = linearisations_.try_emplace({g, linearParams});
  Linearisation& lin = it->second;
  if (!isNew) return lin;
  lin.source = g;
  lin.linear = linearParams;
  lin.values = &linearValues(g, linearParams);
  lin.linearResults = lin.values->results;
  types::TypeStore& t = module.types;
  Function f;
  {
    const Function& from = module.functions[g];
    for (uint32_t i = 0; i < linearParams.size(); ++i)
      if (linearParams[i]) lin.kinds.push_back(cotangentKind(from, t, i));
    // A pair whose result carries no cotangent back is like any other parameter.
    size_t at = 0;
    for (uint32_t i = 0; i < linearParams.size(); ++i) {
      if (!linearParams[i]) continue;
      CotangentKind& kind = lin.kinds[at++];
      if (kind != CotangentKind::Inout) continue;
      for (InoutPair p : from.inouts)
        if (p.param == i && !lin.linearResults[p.result]) kind = CotangentKind::Return;
    }

    types::Record saved;
    saved.name = t.names.intern("Saved_" + from.name);
    saved.declaration = 0x40000000u + static_cast<uint32_t>(linearisations_.size());
    saved.cases.resize(1);
    for (DimSym s : from.dimParams) saved.dimParams.push_back(freshDim(s));
    lin.saved = t.addRecord(std::move(saved));

    f.name = "fwd(" + from.name + ")";
    std::string bits;
    for (bool b : linearParams) bits += b ? '1' : '0';
    f.key = "fwd " + bits + " of " + from.key;
    f.device = from.device;
    f.loc = from.loc;
    types::DimSubst dims;
    auto define = [&](DimSym s) {
      DimSym fresh = freshDim(s);
      dims[s] = t.dims.symbol(fresh);
      return fresh;
    };
    std::vector<DimId> savedDims;
    for (DimSym s : from.dimParams) {
      f.dimParams.push_back(define(s));
      savedDims.push_back(t.dims.symbol(f.dimParams.back()));
    }
    for (DimSym s : from.resultDims) f.resultDims.push_back(define(s));
    f.body = f.regions.add(Region{});
    std::vector<uint32_t> paramAt(linearParams.size(), ~0u), resultAt(from.results.size(), ~0u);
    for (uint32_t i = 0; i < linearParams.size(); ++i) {
      if (linearParams[i]) continue;
      ValueId p = from.params()[i];
      Region& body = f.regions[f.body];
      paramAt[i] = static_cast<uint32_t>(body.params.size());
      body.params.push_back(f.values.add(
          Value{t.substitute(from.typeOf(p), dims), {}, f.body, paramAt[i], from.values[p].hint}));
    }
    for (uint32_t i = 0; i < from.results.size(); ++i) {
      if (lin.linearResults[i]) continue;
      resultAt[i] = static_cast<uint32_t>(f.results.size());
      f.results.push_back(t.substitute(from.results[i], dims));
    }
    f.results.push_back(t.record(lin.saved, savedDims));
    for (InoutPair p : from.inouts)
      if (paramAt[p.param] != ~0u && resultAt[p.result] != ~0u)
        f.inouts.push_back({paramAt[p.param], resultAt[p.result]});
  }
  lin.forward = module.functions.add(std::move(f));
  forwardQueue_.push_back(&lin);
  // One backward companion at least, so that there is a plan of what is saved.
  size_t accumulated = 0;
  for (CotangentKind k : lin.kinds) accumulated += k == CotangentKind::Accumulate;
  backward(lin, std::vector<bool>(accumulated, false));
  return lin;
}

FunctionId Ad::backward(Linearisation& lin, const std::vector<bool>& accs) {
  auto [it, isNew] = lin.backward.try_emplace(accs);
  if (!isNew) return it->second;
  types::TypeStore& t = module.types;
  Function f;
  {
    const Function& from = module.functions[lin.source];
    std::string bits;
    for (bool b : lin.linear) bits += b ? '1' : '0';
    bits += ' ';
    for (bool b : accs) bits += b ? '1' : '0';
    f.name = "bwd(" + from.name + ")";
    f.key = "bwd " + bits + " of " + from.key;
    f.device = from.device;
    f.loc = from.loc;
    types::DimSubst dims;
    std::vector<DimId> savedDims;
    for (DimSym s : from.dimParams) {
      f.dimParams.push_back(freshDim(s));
      dims[s] = t.dims.symbol(f.dimParams.back());
      savedDims.push_back(dims[s]);
    }
    // Results of sizes decided inside: their cotangents bring the sizes.
    for (DimSym s : from.resultDims) {
      f.dimParams.push_back(freshDim(s));
      dims[s] = t.dims.symbol(f.dimParams.back());
    }
    f.body = f.regions.add(Region{});
    auto addParam = [&](TypeId type) {
      Region& body = f.regions[f.body];
      uint32_t index = static_cast<uint32_t>(body.params.size());
      body.params.push_back(f.values.add(Value{type, {}, f.body, index, {}}));
      return index;
    };
    addParam(t.record(lin.saved, savedDims));
    std::vector<uint32_t> seedAt(from.results.size(), ~0u);
    for (uint32_t i = 0; i < from.results.size(); ++i) {
      if (!lin.linearResults[i]) continue;
      TypeId type = t.substitute(from.results[i], dims);
      seedAt[i] = addParam(t.kind(type) == TypeKind::Acc ? t[type].parts[0] : type);
    }
    size_t at = 0, acc = 0;
    for (uint32_t i = 0; i < lin.linear.size(); ++i) {
      if (!lin.linear[i]) continue;
      CotangentKind kind = lin.kinds[at++];
      if (kind == CotangentKind::Reader) continue;
      TypeId type = t.substitute(from.typeOf(from.params()[i]), dims);
      uint32_t result = static_cast<uint32_t>(f.results.size());
      if (kind == CotangentKind::Accumulate) {
        if (accs[acc++]) type = t.acc(type);
        f.inouts.push_back({addParam(type), result});
      }
      if (kind == CotangentKind::Inout)
        for (InoutPair p : from.inouts)
          if (p.param == i) f.inouts.push_back({seedAt[p.result], result});
      f.results.push_back(type);
    }
  }
  it->second = module.functions.add(std::move(f));
  backwardQueue_.push_back({&lin, accs});
  return it->second;
}

void Ad::finish() {
  // jvp bodies first: linearise needs them whole. Backward bodies before forward ones: they decide what is
  // saved.
  while (!jvpQueue_.empty() || !backwardQueue_.empty() || !forwardQueue_.empty()) {
    if (!jvpQueue_.empty()) {
      JvpCompanion* c = jvpQueue_.front();
      jvpQueue_.pop_front();
      buildJvp(*this, *c);
    } else if (!backwardQueue_.empty()) {
      auto [lin, accs] = backwardQueue_.front();
      backwardQueue_.pop_front();
      buildBackward(*this, *lin, accs);
    } else {
      Linearisation* lin = forwardQueue_.back();
      forwardQueue_.pop_back();
      buildForward(*this, *lin);
    }
  }
}

} // namespace melix::transforms
