#include "transforms/derivatives/derivative_context.h"

#include "core/ir/walk.h"
#include "transforms/walks/if_to_select.h"

#include <algorithm>

namespace melix::transforms {

void Ad::refuse(LocId loc, std::string reason) {
  for (const AdProblem& p : problems)
    if (p.path.back() == loc && p.reason == reason) return;
  problems.push_back({AdProblemKind::Unsupported, {loc}, std::move(reason)});
}

template <class Table>
static const JvpCompanion::Followed* findFollowed(const Table& table, ValueId t) {
  auto it = table.find(t);
  return it == table.end() ? nullptr : &it->second;
}

const JvpCompanion::Followed* Ad::primalOf(FunctionId g, ValueId t) const {
  auto companion = companions_.find(g);
  return companion == companions_.end() ? nullptr : findFollowed(companion->second->primalOf, t);
}

const JvpCompanion::Followed* Ad::overwritten(FunctionId g, ValueId t) const {
  auto companion = companions_.find(g);
  return companion == companions_.end() ? nullptr : findFollowed(companion->second->overwritten, t);
}

bool Ad::isAbsorbing(FunctionId g, ValueId t) const {
  auto companion = companions_.find(g);
  return companion != companions_.end() && companion->second->absorbing.contains(t);
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

DimSym Ad::freshDim(DimSym like) { return module.types.dims.newSym(module.types.dims.info(like)); }

// --- shells
// -------------------------------------------------------------------------------------------------------

namespace {

/// A companion without a body: its name, sizes, parameters and results.
struct Shell {
  Shell(Ad& shared, FunctionId source, const char* mode, const std::string& bits, LocId loc)
      : ad(shared), from(shared.module.functions[source]) {
    f.name = mode + ("(" + from.name + ")");
    f.key = mode + (" " + bits + " of " + from.key);
    f.device = from.device;
    f.loc = loc;
    f.body = f.regions.add(Region{});
  }

  types::TypeStore& types() const { return ad.module.types; }
  TypeId type(TypeId t) const { return types().substitute(t, dims); }
  TypeId paramType(uint32_t i) const { return type(from.typeOf(from.params()[i])); }
  DimSym define(DimSym s) {
    DimSym fresh = ad.freshDim(s);
    dims[s] = types().dims.symbol(fresh);
    return fresh;
  }
  void defineDims() {
    for (DimSym s : from.dimParams) f.dimParams.push_back(define(s));
    for (DimSym s : from.resultDims) f.resultDims.push_back(define(s));
  }
  uint32_t param(TypeId t, NameId hint = {}) {
    Region& body = f.regions[f.body];
    auto index = static_cast<uint32_t>(body.params.size());
    body.params.push_back(f.values.add(Value{t, {}, f.body, index, hint}));
    return index;
  }
  uint32_t result(TypeId t) {
    f.results.push_back(t);
    return static_cast<uint32_t>(f.results.size() - 1);
  }
  FunctionId finish() { return ad.module.functions.add(std::move(f)); }

  Ad& ad;
  const Function& from;
  Function f;
  types::DimSubst dims;
};

constexpr uint32_t nowhere = ~0u;

std::string bitText(const std::vector<bool>& bits) {
  std::string text;
  for (bool b : bits) text += b ? '1' : '0';
  return text;
}

std::string bitText(const std::vector<LeafBits>& params) {
  std::string text;
  for (const LeafBits& p : params) text += (text.empty() ? "" : " ") + bitText(p);
  return text;
}

/// For each leaf of `type` that carries a tangent what `add` gives for it.
template <class Add>
std::vector<uint32_t> eachLeaf(Ad& ad, TypeId type, const LeafBits& which, Add add) {
  const std::vector<Leaf> own = ad.leaves.of(type);
  std::vector<uint32_t> out(own.size(), nowhere);
  for (size_t k = 0; k < own.size(); ++k)
    if (which[k]) out[k] = add(own[k].tangent);
  return out;
}

/// f_jvp: f's parameters, then a tangent for each active leaf; results in the same way.
FunctionId jvpShell(Ad& ad, const JvpCompanion& c) {
  Shell g(ad, c.source, "jvp", bitText(c.params), ad.derived(ad.module.functions[c.source].loc));
  g.defineDims();
  const size_t primals = g.from.results.size();
  std::vector<std::vector<uint32_t>> params, results;
  for (uint32_t i = 0; i < c.params.size(); ++i)
    g.param(g.paramType(i), g.from.values[g.from.params()[i]].hint);
  for (uint32_t i = 0; i < c.params.size(); ++i)
    params.push_back(eachLeaf(ad, g.paramType(i), c.params[i], [&](TypeId t) { return g.param(t); }));
  for (TypeId t : g.from.results) g.result(g.type(t));
  for (size_t i = 0; i < primals; ++i)
    results.push_back(
        eachLeaf(ad, TypeId(g.f.results[i]), c.results[i], [&](TypeId t) { return g.result(t); }));
  for (InoutPair p : g.from.inouts) {
    g.f.inouts.push_back(p);
    for (size_t k = 0; k < params[p.param].size(); ++k)
      if (params[p.param][k] != nowhere && results[p.result][k] != nowhere)
        g.f.inouts.push_back({params[p.param][k], results[p.result][k]});
  }
  return g.finish();
}

/// The record of what f_fwd saves; its fields are found when f_bwd is made.
RecordId savedRecord(Ad& ad, const Function& from, size_t number) {
  types::Record saved;
  saved.name = ad.module.types.names.intern("Saved_" + from.name);
  saved.declaration = 0x40000000u + static_cast<uint32_t>(number);
  saved.cases.resize(1);
  for (DimSym s : from.dimParams) saved.dimParams.push_back(ad.freshDim(s));
  return ad.module.types.addRecord(std::move(saved));
}

/// f_fwd: what of g is not linear, and Saved.
FunctionId forwardShell(Ad& ad, const Linearisation& lin) {
  Shell g(ad, lin.source, "fwd", bitText(lin.linear), ad.module.functions[lin.source].loc);
  g.defineDims();
  std::vector<DimId> savedDims;
  for (DimSym s : g.f.dimParams) savedDims.push_back(g.types().dims.symbol(s));
  std::vector<uint32_t> paramAt(lin.linear.size(), nowhere), resultAt(g.from.results.size(), nowhere);
  for (uint32_t i = 0; i < lin.linear.size(); ++i)
    if (!lin.linear[i]) paramAt[i] = g.param(g.paramType(i), g.from.values[g.from.params()[i]].hint);
  for (uint32_t i = 0; i < g.from.results.size(); ++i)
    if (!lin.linearResults[i]) resultAt[i] = g.result(g.type(g.from.results[i]));
  g.result(g.types().record(lin.saved, savedDims));
  for (InoutPair p : g.from.inouts)
    if (paramAt[p.param] != nowhere && resultAt[p.result] != nowhere)
      g.f.inouts.push_back({paramAt[p.param], resultAt[p.result]});
  return g.finish();
}

/// f_bwd: Saved, cotangents of the results, accumulators for arrays and lists.
FunctionId backwardShell(Ad& ad, const Linearisation& lin, const std::vector<bool>& accs) {
  Shell g(ad, lin.source, "bwd", bitText(lin.linear) + " " + bitText(accs),
          ad.module.functions[lin.source].loc);
  std::vector<DimId> savedDims;
  for (DimSym s : g.from.dimParams) {
    g.f.dimParams.push_back(g.define(s));
    savedDims.push_back(g.dims[s]);
  }
  // Results of sizes decided inside: their cotangents bring the sizes.
  for (DimSym s : g.from.resultDims) g.f.dimParams.push_back(g.define(s));
  g.param(g.types().record(lin.saved, savedDims));
  std::vector<uint32_t> seedAt(g.from.results.size(), nowhere);
  for (uint32_t i = 0; i < g.from.results.size(); ++i) {
    if (!lin.linearResults[i]) continue;
    TypeId type = g.type(g.from.results[i]);
    seedAt[i] = g.param(g.types().kind(type) == TypeKind::Acc ? g.types()[type].parts[0] : type);
  }
  size_t at = 0, acc = 0;
  for (uint32_t i = 0; i < lin.linear.size(); ++i) {
    if (!lin.linear[i]) continue;
    CotangentKind kind = lin.kinds[at++];
    if (kind == CotangentKind::Reader) continue;
    TypeId type = g.paramType(i);
    if (kind == CotangentKind::Accumulate && accs[acc++]) type = g.types().acc(type);
    uint32_t result = g.result(type);
    if (kind == CotangentKind::Accumulate) g.f.inouts.push_back({g.param(type), result});
    if (kind == CotangentKind::Inout)
      for (InoutPair p : g.from.inouts)
        if (p.param == i) g.f.inouts.push_back({seedAt[p.result], result});
  }
  return g.finish();
}

CotangentKind cotangentKind(const Function& g, const types::TypeStore& types, const Linearisation& lin,
                            uint32_t param) {
  TypeId t = g.typeOf(g.params()[param]);
  if (types.kind(t) == TypeKind::Acc) return CotangentKind::Reader;
  // A pair whose result carries no cotangent back is like any other parameter.
  for (InoutPair p : g.inouts)
    if (p.param == param && lin.linearResults[p.result]) return CotangentKind::Inout;
  const auto& updates = lin.values->updates;
  const bool updated = std::any_of(updates.begin(), updates.end(),
                                   [&](const std::set<uint32_t>& of) { return of.contains(param); });
  return updated || !holdsArrays(types, t) ? CotangentKind::Return : CotangentKind::Accumulate;
}

std::vector<CotangentKind> cotangentKinds(const Function& g, const types::TypeStore& types,
                                          const Linearisation& lin) {
  std::vector<CotangentKind> out;
  for (uint32_t i = 0; i < lin.linear.size(); ++i)
    if (lin.linear[i]) out.push_back(cotangentKind(g, types, lin, i));
  return out;
}

} // namespace

const JvpCompanion& Ad::jvp(FunctionId f, const std::vector<LeafBits>& params) {
  auto [it, isNew] = jvps_.try_emplace({f, params});
  JvpCompanion& c = it->second;
  if (!isNew) return c;
  c.source = module.functions[f].customJvp.valid() ? f : prepare(*this, f);
  c.params = params;
  c.results = activity.of(c.source, params).results;
  c.function = jvpShell(*this, c);
  companions_[c.function] = &c;
  jvpQueue_.push_back(&c);
  return c;
}

Linearisation& Ad::linearise(FunctionId g, const std::vector<bool>& linearParams) {
  auto [it, isNew] = linearisations_.try_emplace({g, linearParams});
  Linearisation& lin = it->second;
  if (!isNew) return lin;
  lin.source = g;
  lin.linear = linearParams;
  lin.values = &linearValues(g, linearParams);
  lin.linearResults = lin.values->results;
  lin.kinds = cotangentKinds(module.functions[g], module.types, lin);
  lin.saved = savedRecord(*this, module.functions[g], linearisations_.size());
  lin.forward = forwardShell(*this, lin);
  forwardQueue_.push_back(&lin);
  // One backward companion at least, so that there is a plan of what is saved.
  size_t accumulated = 0;
  for (CotangentKind k : lin.kinds) accumulated += k == CotangentKind::Accumulate;
  lin.first.assign(accumulated, false);
  backward(lin, lin.first);
  return lin;
}

FunctionId Ad::backward(Linearisation& lin, const std::vector<bool>& accs) {
  auto [it, isNew] = lin.backward.try_emplace(accs);
  if (!isNew) return it->second;
  it->second = backwardShell(*this, lin, accs);
  backwardQueue_.push_back({&lin, accs});
  return it->second;
}

/// What the calls in it that take tangents call.
std::vector<Linearisation*> Ad::calleesOf(const Linearisation& lin) {
  std::vector<std::pair<FunctionId, std::vector<bool>>> calls;
  const Function& g = module.functions[lin.source];
  core::forEachOp(g, [&](OpId id) {
    const Op& op = g.ops[id];
    if (op.kind != OpKind::Call) return;
    std::vector<bool> params;
    for (ValueId v : op.operands) params.push_back(lin.values->values.contains(v));
    if (std::find(params.begin(), params.end(), true) != params.end())
      calls.emplace_back(op.as<CallAttr>().callee, std::move(params));
  });
  std::vector<Linearisation*> out;
  for (auto& [callee, params] : calls) out.push_back(&linearise(callee, params));
  return out;
}

/// Makes the first backward companion of `root`, after those of what it calls: they decide what is saved, and
/// a caller keeps that by its parts. In a circle of calls one does not know yet, and keeps the record.
void Ad::plan(Linearisation& root) {
  struct Step {
    Linearisation* lin;
    std::vector<Linearisation*> callees;
  };
  std::vector<Step> path;
  std::unordered_set<Linearisation*> entered;
  auto enter = [&](Linearisation& lin) {
    if (!lin.planned && entered.insert(&lin).second) path.push_back({&lin, calleesOf(lin)});
  };
  enter(root);
  while (!path.empty()) {
    Step& step = path.back();
    if (!step.callees.empty()) {
      Linearisation* callee = step.callees.back();
      step.callees.pop_back();
      enter(*callee);
      continue;
    }
    Linearisation& lin = *step.lin;
    path.pop_back();
    buildBackward(*this, lin, lin.first);
  }
}

void Ad::finish() {
  // jvp bodies first: linearise needs them whole. Backward bodies before forward ones: they decide what is
  // saved.
  while (!jvpQueue_.empty() || !backwardQueue_.empty() || !forwardQueue_.empty()) {
    if (!jvpQueue_.empty()) {
      JvpCompanion* c = jvpQueue_.front();
      jvpQueue_.pop_front();
      buildJvp(*this, *c);
      formSelects(module, c->function);
    } else if (!backwardQueue_.empty()) {
      auto [lin, accs] = backwardQueue_.front();
      backwardQueue_.pop_front();
      plan(*lin);
      if (accs != lin->first) buildBackward(*this, *lin, accs);
    } else {
      Linearisation* lin = forwardQueue_.back();
      forwardQueue_.pop_back();
      buildForward(*this, *lin);
    }
  }
}

} // namespace melix::transforms
