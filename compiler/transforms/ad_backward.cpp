#include "transforms/ad_backward.h"
#include "core/flow.h"
#include "core/walk.h"

namespace melix::transforms {

Backward::Backward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs)
    : ad_(ad), lin_(lin), dst_(lin.backward.at(accs)), accs_(accs), uses_(ad.module, lin.source) {
  forEachOp(g(), [&](OpId id) {
    for (DimSym s : opOf(id).resultDims) dimHome_[s] = uses_.regionOf(id);
    for (RegionId r : opOf(id).regions)
      for (DimSym s : g().regions[r].dimParams) dimHome_[s] = r;
  });
  findUpdated();
}

/// What an update consumes, so that nothing saves it: what updates take, and what that comes from around
/// loops and out of branches.
void Backward::findUpdated() {
  std::vector<ValueId> queue;
  auto update = [&](ValueId v) {
    if (updated_.insert(v).second) queue.push_back(v);
  };
  forEachOp(g(), [&](OpId id) {
    const Op& o = opOf(id);
    if (o.kind == OpKind::Set || o.kind == OpKind::AddAt || o.kind == OpKind::Push || o.kind == OpKind::Pop)
      update(o.operands[0]);
    if (o.kind == OpKind::Call)
      for (InoutPair p : ad_.module.functions[o.as<CallAttr>().callee].inouts) update(o.operands[p.param]);
    if (o.kind == OpKind::Nest)
      for (ValueId v : NestView(g(), o).accOperands()) update(v);
  });
  const SlotTable slots(g());
  while (!queue.empty()) {
    const ValueId v = queue.back();
    queue.pop_back();
    const SlotTable::Entry* own = slots.of(v);
    if (!own || (own->slot.kind != SlotKind::Choice && own->slot.kind != SlotKind::Carry)) continue;
    const Op& o = opOf(own->op);
    for (RegionId r : yieldRegions(o, own->slot))
      for (ValueId y : own->slot.yields.of(terminator(r).operands)) update(y);
    const bool result = g().values[v].def.valid(); // which is a copy where nothing runs
    if (!result)
      for (ValueId operand : own->slot.operands.of(o.operands)) update(operand);
  }
}

RegionId Backward::homeOf(ValueId v) const {
  const Value& value = g().values[v];
  if (value.region.valid()) return value.region;
  if (value.def.valid()) return uses_.regionOf(value.def);
  return lin_.carrierHome.at(v);
}

Backward::Scope& Backward::scopeOf(RegionId home) {
  for (Scope* s = cur_; s; s = s->parent)
    if (s->source == home) return *s;
  assert(false && "a value is used outside the region that defines it");
  return *cur_;
}

void Backward::needDim(DimSym s) {
  if (dims_.count(s)) return;
  const types::DimSubst& same = ad_.dimsOf(lin_.source);
  if (auto alias = same.find(s); alias != same.end()) {
    dims_[s] = dim(alias->second);
    return;
  }
  auto home = dimHome_.find(s);
  assert(home != dimHome_.end() && "a dim nothing defines");
  scopeOf(home->second).dims.push_back(s);
  dims_[s] = types().dims.symbol(ad_.freshDim(s));
}

DimId Backward::dim(DimId d) {
  std::vector<DimSym> symbols;
  types().dims.collectSymbols(d, symbols);
  for (DimSym s : symbols) needDim(s);
  return types().dims.substitute(d, dims_);
}

TypeId Backward::type(TypeId t) {
  std::vector<DimSym> symbols;
  types().collectSymbols(t, symbols);
  for (DimSym s : symbols)
    if (types().dims.info(s).kind != types::DimSymKind::Bound) needDim(s);
  return types().substitute(t, dims_);
}

Path Backward::path(const Path& p) {
  Path out = p;
  for (PathStep& s : out)
    if (s.kind == StepKind::Slice) s.length = dim(s.length);
  return out;
}

/// Accumulators first, so that seeds that are parameters of g passed through add into them.
void Backward::takeSeeds(Scope& top) {
  const std::vector<ValueId>&params = top.e.fn().params(), &from = g().params();
  const std::vector<ValueId>& results = terminator(g().body).operands;
  size_t seeds = 0;
  for (bool b : lin_.linearResults) seeds += b;
  size_t accParam = 1 + seeds, kindAt = 0, param = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!lin_.linear[i]) continue;
    if (lin_.kinds[kindAt++] == CotangentKind::Accumulate) top.cotangents[from[i]] = params[accParam++];
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (lin_.linearResults[i]) addTo(results[i], params[param++]);
}

void Backward::yieldCotangents(Scope& top) {
  const std::vector<ValueId>& from = g().params();
  std::vector<ValueId> out;
  size_t kindAt = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!lin_.linear[i]) continue;
    if (lin_.kinds[kindAt++] == CotangentKind::Reader) continue;
    out.push_back(realCotangent(from[i]));
  }
  top.e.yield(std::move(out));
}

/// The fields of the Saved record are the items of the function's own region.
void Backward::fillSaved(const std::vector<ResidualItem>& items) {
  if (lin_.planned) return;
  lin_.planned = true;
  types::Record& saved = types().recordInfo(lin_.saved);
  types::DimSubst toRecord;
  for (size_t i = 0; i < g().dimParams.size(); ++i)
    toRecord[g().dimParams[i]] = types().dims.symbol(saved.dimParams[i]);
  for (const ResidualItem& item : items) {
    TypeId t = types().substitute(item.type, toRecord);
    types().recordInfo(lin_.saved).cases[0].fields.push_back({NameId(), t});
  }
}

void Backward::build() {
  Emit e(ad_.module, dst_, ad_.module.functions[dst_].body, g().loc);
  Scope top{ScopeKind::Function, g().body, e, nullptr, {}, {}, {}, {}, {}, {}, {}, 0};
  cur_ = &top;
  size_t at = 0;
  const std::vector<DimSym>& dimParams = e.fn().dimParams;
  for (DimSym s : g().dimParams) dims_[s] = types().dims.symbol(dimParams[at++]);
  takeSeeds(top);
  region(top);
  cur_ = &top;
  yieldCotangents(top);

  Roots roots;
  const std::vector<ResidualItem>& items = close(top, roots);
  for (uint32_t k = 0; k < items.size(); ++k) {
    Op get = Emit::simple(OpKind::Get, {ValueId(e.fn().params()[0])});
    get.attr = Path{PathStep{StepKind::Field, k, {}, 1}};
    define(top, roots[k], std::move(get));
  }
  openItems(top, items, roots);
  placePrologue(top);
  fillSaved(items);
}

void buildBackward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs) {
  Backward(ad, lin, accs).build();
}

} // namespace melix::transforms
