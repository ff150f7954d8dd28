#include "transforms/derivatives/forward.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/filler.h"
#include "core/ir/walk.h"

#include <algorithm>

namespace melix::transforms {

/// What is kept is read where a loop or nest collects it, on ways too that make nothing of it, such as an
/// early exit: what is undefined and comes there as an array has to be some value.
void Forward::findKeptUndefined() {
  bool any = false;
  core::forEachOp(g(), [&](OpId id) { any |= opOf(id).kind == OpKind::Undef; });
  if (!any) return;
  std::vector<ValueId> queue;
  auto reach = [&](ValueId v) {
    if (!types().isScalar(g().typeOf(v)) && keptUndefined_.insert(v).second) queue.push_back(v);
  };
  for (const auto& [region, items] : lin_.plan.regions)
    for (const ResidualItem& item : items)
      for (ValueId v : item.values)
        if (holdsArrays(types(), g().typeOf(v))) reach(v);
  std::unordered_map<ValueId, std::vector<ValueId>> sources;
  core::forEachOp(g(), [&](OpId id) {
    for (const FlowEdge& edge : flowsOf(g(), opOf(id)))
      if (edge.kind != FlowKind::Case) sources[edge.to].push_back(edge.from);
  });
  while (!queue.empty()) {
    const ValueId v = queue.back();
    queue.pop_back();
    if (const auto from = sources.find(v); from != sources.end()) std::ranges::for_each(from->second, reach);
    const OpId def = g().values[v].def;
    if (def.valid() && opOf(def).kind != OpKind::Call && opOf(def).regions.empty())
      std::ranges::for_each(opOf(def).operands, reach);
  }
}

void Forward::build() {
  findKeptUndefined();
  const std::vector<DimSym>& dimParams = e_.fn().dimParams;
  for (size_t i = 0; i < g().dimParams.size(); ++i)
    dims_[g().dimParams[i]] = types().dims.symbol(dimParams[i]);
  const std::vector<ValueId>& own = e_.fn().params();
  size_t at = 0;
  for (size_t i = 0; i < g().params().size(); ++i)
    if (!lin_.linear[i]) values_[g().params()[i]] = own[at++];
  region(g().body, e_);
  const Op& y = terminator(g().body);
  std::vector<ValueId> out;
  for (size_t i = 0; i < y.operands.size(); ++i)
    if (!lin_.linearResults[i]) out.push_back(value(y.operands[i]));
  TypeId saved = TypeId(e_.fn().results.back());
  out.push_back(e_.make(saved, items(g().body, e_)));
  e_.yield(std::move(out), dimsOf(y.dims));
}

std::vector<ValueId> Forward::items(RegionId r, Emit& e) {
  std::vector<ValueId> out;
  const std::vector<ResidualItem>* plan = planned(r);
  if (!plan) return out;
  for (const ResidualItem& item : *plan) {
    if (item.hidden.empty()) {
      out.push_back(value(item.values[0]));
      continue;
    }
    std::vector<ValueId> parts;
    std::vector<TypeId> partTypes;
    for (ValueId v : item.values) {
      parts.push_back(value(v));
      partTypes.push_back(e.typeOf(parts.back()));
    }
    Op pack = Emit::simple(OpKind::Pack, {e.make(types().tuple(partTypes), std::move(parts))});
    for (DimSym s : item.hidden) pack.dims.push_back(dim(types().dims.symbol(s)));
    out.push_back(e.one(std::move(pack), type(item.type)));
  }
  return out;
}

void Forward::region(RegionId from, Emit& e) {
  for (OpId id : g().regions[from].ops) {
    if (opOf(id).kind == OpKind::Yield) continue;
    const size_t first = e.fn().ops.size();
    op(id, e);
    noteWritten(lin_.source, id, lin_.forward, first);
  }
}

Emit Forward::open(RegionId from, Emit& e) {
  Emit b = e.in(e.newRegion());
  for (DimSym s : g().regions[from].dimParams) e.fn().regions[b.region].dimParams.push_back(defineDim(s));
  for (ValueId p : g().regions[from].params)
    if (!linear(p)) values_[p] = b.param(typeOf(p), g().values[p].hint);
  return b;
}

void Forward::bind(const Op& o, OpId made, Emit& e) {
  size_t at = 0;
  for (ValueId r : o.results)
    if (!linear(r)) values_[r] = e.result(made, at++);
}

void Forward::op(OpId id, Emit& e) {
  const Op& o = opOf(id);
  e.loc = o.loc;
  switch (o.kind) {
  case OpKind::If:
  case OpKind::Match:
    if (linear(o.operands[0])) return;
    return branch(id, e);
  case OpKind::For:
  case OpKind::While: return loop(id, e);
  case OpKind::Nest: return nest(id, e);
  case OpKind::Call: return call(id, e);
  default: break;
  }
  for (ValueId r : o.results)
    if (linear(r)) return;
  if (o.kind == OpKind::Undef && keptUndefined_.contains(o.results[0])) {
    values_[o.results[0]] = core::filler(e, typeOf(o.results[0]));
    return;
  }
  for (ValueId v : o.operands)
    if (linear(v)) return; // a length, say, of a tangent: nothing known needs it
  Op copy = start(o);
  if (auto* p = std::get_if<Path>(&copy.attr))
    for (PathStep& s : *p)
      if (s.kind == StepKind::Slice) s.length = dim(s.length);
  if (auto* c = std::get_if<CheckAttr>(&copy.attr); c && c->type.valid()) c->type = type(c->type);
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  bind(o, e.append(std::move(copy), resultTypes(o)), e);
}

std::vector<TypeId> Forward::resultTypes(const Op& o) {
  std::vector<TypeId> out;
  for (ValueId r : o.results)
    if (!linear(r)) out.push_back(typeOf(r));
  return out;
}

Op Forward::start(const Op& o) {
  Op copy;
  copy.kind = o.kind;
  copy.loc = o.loc;
  copy.attr = o.attr;
  copy.operands = known(o.operands);
  copy.dims = dimsOf(o.dims);
  return copy;
}

void Forward::branch(OpId id, Emit& e) {
  const Op& o = opOf(id);
  const OpResidual* plan = planned(id);
  Op copy = start(o);
  for (size_t i = 0; i < o.regions.size(); ++i) {
    Emit b = open(o.regions[i], e);
    region(o.regions[i], b);
    const Op& y = terminator(o.regions[i]);
    std::vector<ValueId> out;
    for (size_t k = 0; k < o.results.size(); ++k)
      if (!linear(o.results[k])) out.push_back(value(y.operands[k]));
    if (plan) armItems(o, i, *plan, b, out);
    b.yield(std::move(out), dimsOf(y.dims));
    copy.regions.push_back(b.region);
  }
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> t = resultTypes(o);
  const size_t own = t.size();
  if (plan)
    for (ValueId v : plan->carriers) t.push_back(typeOf(v));
  OpId made = e.append(std::move(copy), t);
  bind(o, made, e);
  if (plan)
    for (size_t k = 0; k < plan->carriers.size(); ++k) values_[plan->carriers[k]] = e.result(made, own + k);
}

/// What an arm yields for the carriers: a case of an enum, or its numbers and zeros for those of other arms.
void Forward::armItems(const Op& o, size_t arm, const OpResidual& plan, Emit& b, std::vector<ValueId>& out) {
  std::vector<ValueId> own = items(o.regions[arm], b);
  const TypeId first = typeOf(plan.carriers[0]);
  if (!types().isScalar(first)) {
    Op v = Emit::simple(OpKind::Variant, std::move(own), static_cast<uint32_t>(arm));
    out.push_back(b.one(std::move(v), first));
    return;
  }
  size_t begin = 0;
  for (size_t i = 0; i < arm; ++i)
    if (const std::vector<ResidualItem>* before = planned(o.regions[i])) begin += before->size();
  for (size_t k = 0; k < plan.carriers.size(); ++k)
    out.push_back(k >= begin && k < begin + own.size() ? own[k - begin] : b.zero(typeOf(plan.carriers[k])));
}

void Forward::call(OpId id, Emit& e) {
  const Op& o = opOf(id);
  bool any = false;
  std::vector<bool> params;
  for (ValueId v : o.operands) {
    params.push_back(linear(v));
    any |= params.back();
  }
  Op copy = start(o);
  for (DimSym s : o.resultDims) copy.resultDims.push_back(defineDim(s));
  std::vector<TypeId> t = resultTypes(o);
  if (!any) return bind(o, e.append(std::move(copy), t), e);
  Linearisation& lin = ad_.linearise(o.as<CallAttr>().callee, params);
  copy.attr = CallAttr{lin.forward};
  std::vector<DimId> savedDims(copy.dims);
  t.push_back(types().record(lin.saved, savedDims));
  OpId made = e.append(std::move(copy), t);
  bind(o, made, e);
  const OpResidual* plan = planned(id);
  if (!plan) return;
  ValueId saved = e.result(made, t.size() - 1);
  if (!plan->whole) {
    for (uint32_t k = 0; k < plan->carriers.size(); ++k)
      if (const ValueId v = plan->carriers[k]; lin_.carrierHome.contains(v))
        values_[v] = e.castDims(e.kid(saved, k, types().fieldType(e.typeOf(saved), 0, k)), typeOf(v));
    return;
  }
  if (types().kind(typeOf(plan->carriers[0])) == TypeKind::Enum)
    saved = e.one(Emit::simple(OpKind::Variant, {saved}, 0u), types().record(ad_.boxOf(lin), savedDims));
  values_[plan->carriers[0]] = saved;
}

void buildForward(Ad& ad, Linearisation& lin) { Forward(ad, lin).build(); }

} // namespace melix::transforms
