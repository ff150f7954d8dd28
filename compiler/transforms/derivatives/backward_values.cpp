// Values of g in f_bwd: asked for, then rematerialised or saved in the forward companion.

#include "transforms/derivatives/backward_values.h"

#include "core/analysis/sizes.h"
#include "core/ir/walk.h"
#include "transforms/analysis/trip_count.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace melix::transforms {

KnownValues::KnownValues(Ad& ad, Linearisation& lin)
    : ad_(ad), lin_(lin), uses_(ad.module, lin.source),
      finalReads_(finalValueReads(ad.module, lin.source, uses_)) {
  forEachOp(g(), [&](OpId id) {
    for (DimSym s : opOf(id).resultDims) dimHome_[s] = uses_.regionOf(id);
    if (opOf(id).kind == OpKind::BindDim) boundTo_[opOf(id).resultDims[0]] = opOf(id).operands[0];
    for (RegionId r : opOf(id).regions)
      for (DimSym s : g().regions[r].dimParams) dimHome_[s] = r;
  });
  findUpdated();
}

/// What an update consumes, so that nothing saves it: what updates take, and what that comes from around
/// loops and out of branches.
void KnownValues::findUpdated() {
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

RegionId KnownValues::homeOf(ValueId v) const {
  const Value& value = g().values[v];
  if (value.region.valid()) return value.region;
  if (value.def.valid()) return uses_.regionOf(value.def);
  return lin_.carrierHome.at(v);
}

KnownValues::Scope& KnownValues::scopeOf(RegionId home) const {
  for (Scope* s = cur_; s; s = s->parent)
    if (s->source == home) return *s;
  assert(false && "a value is used outside the region that defines it");
  return *cur_;
}

void KnownValues::needDim(DimSym s) {
  if (dims_.count(s)) return;
  const types::DimSubst& same = ad_.dimsOf(lin_.source);
  if (auto alias = same.find(s); alias != same.end()) {
    dims_[s] = dim(alias->second);
    return;
  }
  auto home = dimHome_.find(s);
  assert(home != dimHome_.end() && "a dim nothing defines");
  dims_[s] = types().dims.symbol(ad_.freshDim(s));
  Scope& scope = scopeOf(home->second);
  if (!isBoundAtHand(s)) return scope.dims.push_back(s);
  bound_[home->second].push_back(s);
  known(boundTo_.at(s));
}

/// Whether it is an axis, the index of a loop, or a number from further out, which cost no more than the
/// size, or read of what the function was given.
bool KnownValues::isBoundAtHand(DimSym s) const {
  const auto number = boundTo_.find(s);
  if (number == boundTo_.end() || linear(number->second)) return false;
  const RegionId home = dimHome_.at(s);
  if (home == g().body) return false;
  int budget = 24; // ops
  return homeOf(number->second) != home || !g().values[number->second].def.valid() ||
         isReadOfGiven(number->second, budget);
}

/// Whether integer work makes it again of axes, sizes and elements of parameters.
bool KnownValues::isReadOfGiven(ValueId v, int& budget) const {
  if (isImmediate(v)) return true;
  if (--budget <= 0 || updated(v)) return false;
  const OpId def = g().values[v].def;
  if (!def.valid()) return g().values[v].region == g().body || isAxis(v);
  const std::optional<Effort> effort = rematerialisationEffort(g(), types(), opOf(def));
  return effort && effort->math == 0 &&
         std::ranges::all_of(opOf(def).operands, [&](ValueId x) { return isReadOfGiven(x, budget); });
}

/// Whether it is an axis of a nest or the index of a counted loop.
bool KnownValues::isAxis(ValueId v) const {
  const RegionId home = g().values[v].region;
  const OpId parent = home.valid() ? g().regions[home].parent : OpId();
  if (!parent.valid()) return false;
  const Op& op = opOf(parent);
  const size_t axes = op.kind == OpKind::Nest ? op.dims.size() : op.kind == OpKind::For ? 1 : 0;
  return g().values[v].index < axes;
}

DimId KnownValues::dim(DimId d) {
  std::vector<DimSym> symbols;
  types().dims.collectSymbols(d, symbols);
  for (DimSym s : symbols) needDim(s);
  return types().dims.substitute(d, dims_);
}

TypeId KnownValues::type(TypeId t) {
  std::vector<DimSym> symbols;
  types().collectSymbols(t, symbols);
  for (DimSym s : symbols)
    if (types().dims.info(s).kind != types::DimSymKind::Bound) needDim(s);
  return types().substitute(t, dims_);
}

Path KnownValues::path(const Path& p) {
  Path out = p;
  for (PathStep& s : out)
    if (s.kind == StepKind::Slice) s.length = dim(s.length);
  return out;
}

/// A read of a value at hand that gives `v`, or the op that defines it; none for parameters and what only the
/// forward companion makes.
const Op* KnownValues::definition(ValueId v) const {
  if (const auto found = finalReads_.find(v); found != finalReads_.end()) return &found->second;
  if (const OpId def = g().values[v].def; def.valid()) return &opOf(def);
  auto read = lin_.readOf.find(v);
  return read == lin_.readOf.end() ? nullptr : &read->second;
}

/// Whether it stands somewhere, if only as a placeholder.
bool KnownValues::isKnown(ValueId v) const {
  for (const Scope* s = cur_; s; s = s->parent)
    if (s->known.contains(v)) return true;
  return false;
}

bool KnownValues::isImmediate(ValueId v) const {
  const Op* def = definition(v);
  if (!def) return false;
  return def->kind == OpKind::DimValue ||
         (def->kind == OpKind::Const && types().kind(g().typeOf(v)) != TypeKind::Str);
}

std::optional<KnownValues::PartOfParam> KnownValues::partOfParam(ValueId v) const {
  PartOfParam out{};
  for (const Op* def = definition(v); def; def = definition(v)) {
    if (def->kind != OpKind::Get || !std::ranges::all_of(def->as<Path>(), [](const PathStep& s) {
          return s.kind == StepKind::Field || s.kind == StepKind::Index;
        }))
      return std::nullopt;
    out.path.insert(out.path.begin(), def->as<Path>().begin(), def->as<Path>().end());
    out.indices.insert(out.indices.begin(), def->operands.begin() + 1, def->operands.end());
    v = def->operands[0];
  }
  const auto param = std::ranges::find(g().params(), v);
  if (param == g().params().end()) return std::nullopt;
  out.param = static_cast<uint32_t>(param - g().params().begin());
  return out;
}

ValueId KnownValues::known(ValueId v) {
  assert(!linear(v) && "a tangent is no known value");
  for (Scope* s = cur_; s; s = s->parent)
    if (auto it = s->known.find(v); it != s->known.end()) return it->second;
  Scope& home = isImmediate(v) ? *cur_ : scopeOf(homeOf(v));
  const ValueId placeholder = home.known[v] = home.e.placeholder(typeOf(v));
  if (isImmediate(v))
    rematerialise(home, v);
  else
    home.demands.push_back(v);
  return placeholder;
}

std::vector<ValueId> KnownValues::knownAll(std::span<const ValueId> vs) {
  std::vector<ValueId> out;
  for (ValueId v : vs) out.push_back(known(v));
  return out;
}

/// The loop, nest or function around a scope.
const KnownValues::Scope& KnownValues::levelOf(const Scope& s) const {
  const Scope* at = &s;
  while (at->kind == ScopeKind::Arm) at = at->parent;
  return *at;
}

/// The result of a nest that holds a value of its body for every point, and the indices of the point.
std::optional<std::pair<ValueId, std::vector<ValueId>>> KnownValues::collectedAs(ValueId v) const {
  const RegionId home = homeOf(v);
  const OpId parent = g().regions[home].parent;
  if (!parent.valid() || opOf(parent).kind != OpKind::Nest || opOf(parent).regions[0] != home) return {};
  if (!types().isScalar(g().typeOf(v))) return {};
  const NestView nest(g(), opOf(parent));
  for (const NestPart& part : nest.parts()) {
    const ValueId held = nest.results(part)[0];
    if (part.spec->kind != NestResultKind::Collect || nest.yields(part)[0] != v || updated(held)) continue;
    std::vector<ValueId> indices;
    for (uint32_t a : part.spec->keep) indices.push_back(nest.axisParams()[a]);
    return std::pair(held, std::move(indices));
  }
  return {};
}

// --- residual items
// -----------------------------------------------------------------------------------------------

/// The items of a scope's region and what stands for them here. The first backward companion decides them.
/// What was asked for and is no item is rematerialised.
const std::vector<ResidualItem>& KnownValues::close(Scope& s, Roots& roots) {
  Scope* outer = std::exchange(cur_, &s);
  auto [it, isNew] = lin_.plan.regions.try_emplace(s.source);
  std::vector<ResidualItem>& items = it->second;
  std::vector<ValueId> kept;
  for (const ResidualItem& item : items) kept.insert(kept.end(), item.values.begin(), item.values.end());
  if (!lin_.planned) kept = choose(s);
  rematerialiseAll(s, kept);
  if (!lin_.planned) {
    assert(isNew && "a region is transposed once");
    const std::vector<DimSym> hidden = hiddenBy(s, kept);
    std::vector<ValueId> packed, single;
    for (ValueId v : kept) (mentions(g().typeOf(v), hidden) ? packed : single).push_back(v);
    if (!hidden.empty()) {
      std::vector<TypeId> parts;
      for (ValueId v : packed) parts.push_back(g().typeOf(v));
      items.push_back({types().pack(types().tuple(parts), hidden), packed, hidden});
    }
    for (ValueId v : single) items.push_back({g().typeOf(v), {v}, {}});
  }
  rematerialiseBindings(s, items);
  for (const ResidualItem& item : items) {
    if (!item.hidden.empty()) {
      for (DimSym d : item.hidden)
        if (!dims_.contains(d)) dims_[d] = types().dims.symbol(ad_.freshDim(d));
      roots.push_back(s.e.placeholder(type(item.type)));
      continue;
    }
    auto at = s.known.find(item.values[0]);
    roots.push_back(at != s.known.end() ? at->second : s.e.placeholder(typeOf(item.values[0])));
  }
  cur_ = outer;
  return items;
}

bool KnownValues::mentions(TypeId t, std::span<const DimSym> sizes) const {
  std::vector<DimSym> symbols;
  types().collectSymbols(t, symbols);
  return std::ranges::any_of(sizes, [&](DimSym s) { return std::ranges::find(symbols, s) != symbols.end(); });
}

/// The sizes that are saved: those that are nowhere at hand, and those of what is kept, as nothing around the
/// region knows them.
std::vector<DimSym> KnownValues::hiddenBy(const Scope& s, const std::vector<ValueId>& kept) const {
  std::vector<DimSym> out = s.dims;
  const auto bound = bound_.find(s.source);
  if (bound == bound_.end()) return out;
  for (DimSym d : bound->second)
    if (std::ranges::any_of(kept, [&](ValueId v) { return mentions(g().typeOf(v), std::span(&d, 1)); }))
      out.push_back(d);
  return out;
}

/// Sizes that no item holds, before all that is made of them.
void KnownValues::rematerialiseBindings(Scope& s, const std::vector<ResidualItem>& items) {
  std::vector<OpId> binds;
  for (DimSym d : std::vector<DimSym>(bound_[s.source])) {
    if (std::ranges::any_of(items, [&](const ResidualItem& item) {
          return std::ranges::find(item.hidden, d) != item.hidden.end();
        }))
      continue;
    Op bind = Emit::simple(OpKind::BindDim, {known(boundTo_.at(d))});
    bind.resultDims.push_back(*types().dims.asSymbol(dims_.at(d)));
    bind.loc = s.e.loc;
    binds.push_back(s.e.fn().ops.add(std::move(bind)));
  }
  if (!binds.empty()) orderRematerialised(s, binds);
}

/// Sizes are bound as soon as their numbers are there; what is rematerialised of a size comes after that.
void KnownValues::orderRematerialised(Scope& s, const std::vector<OpId>& binds) {
  const Function& f = s.e.fn();
  std::unordered_map<DimSym, OpId> bindOf;
  for (OpId id : binds) bindOf[f.ops[id].resultDims[0]] = id;
  std::unordered_set<OpId> open(s.rematerialised.begin(), s.rematerialised.end());
  open.insert(binds.begin(), binds.end());
  std::vector<OpId> ordered;
  std::function<void(OpId)> place = [&](OpId id) { // as deep as what `isReadOfGiven` allows
    if (open.erase(id) == 0) return;
    for (ValueId v : f.ops[id].operands)
      if (f.values[v].def.valid()) place(f.values[v].def);
    for (DimSym d : sizesWithin(ad_.module, f, id))
      if (const auto bind = bindOf.find(d); bind != bindOf.end() && bind->second != id) place(bind->second);
    ordered.push_back(id);
  };
  for (OpId id : binds) place(id);
  for (OpId id : s.rematerialised) place(id);
  s.rematerialised = std::move(ordered);
}

void KnownValues::define(Scope& s, ValueId target, Op op) { define(s, target, std::move(op), s.prologue); }

void KnownValues::define(Scope& s, ValueId target, Op op, std::vector<OpId>& list) {
  Function& f = s.e.fn();
  op.loc = s.e.loc;
  op.results = {target};
  OpId id = f.ops.add(std::move(op));
  f.values[target].def = id;
  f.values[target].index = 0;
  list.push_back(id);
}

/// Unpacks groups into the placeholders of their values.
void KnownValues::openItems(Scope& s, const std::vector<ResidualItem>& items, const Roots& roots) {
  for (size_t k = 0; k < items.size(); ++k) {
    const ResidualItem& item = items[k];
    if (item.hidden.empty()) continue;
    Op open = Emit::simple(OpKind::Unpack, {roots[k]});
    std::vector<DimId> own;
    for (DimSym d : item.hidden) {
      own.push_back(dims_.at(d));
      open.resultDims.push_back(*types().dims.asSymbol(own.back()));
    }
    ValueId tuple = s.e.placeholder(types().openPack(s.e.typeOf(roots[k]), own));
    define(s, tuple, std::move(open));
    for (uint32_t i = 0; i < item.values.size(); ++i) {
      auto at = s.known.find(item.values[i]);
      if (at == s.known.end()) continue;
      define(s, at->second, Emit::simple(OpKind::Get, {tuple}, Path{PathStep{StepKind::Field, i, {}, 1}}));
    }
  }
}

void KnownValues::placePrologue(Scope& s) {
  std::vector<OpId>& ops = s.e.fn().regions[s.e.region].ops;
  s.prologue.insert(s.prologue.end(), s.rematerialised.begin(), s.rematerialised.end());
  ops.insert(ops.begin() + static_cast<long>(s.prologueAt), s.prologue.begin(), s.prologue.end());
}

/// A value of g, made by the forward companion beside the results of op `id`.
ValueId KnownValues::carrier(OpId id, size_t k, TypeId t) {
  OpResidual& r = lin_.plan.ops[id];
  if (k < r.carriers.size()) return r.carriers[k];
  assert(!lin_.planned && k == r.carriers.size());
  ValueId v = ad_.module.functions[lin_.source].values.add(Value{t, {}, {}, 0, {}});
  lin_.carrierHome[v] = uses_.regionOf(id);
  r.carriers.push_back(v);
  return v;
}

/// How many iterations a `for` had: its own size where it collects, a size that it counts to, else one that
/// the companion defines.
DimId KnownValues::extentOfItems(OpId id, const LoopView& loop) {
  if (loop.extent().valid()) return types().dims.symbol(loop.extent());
  Ranges ranges(ad_.module, lin_.source); // of what ops determine by themselves
  types::DimStore& dims = types().dims;
  if (const DimId counted = loopExtent(ad_.module, g(), ranges, loop.count()); counted.valid())
    return dims.nonNegative(counted); // also where no iteration runs
  OpResidual& r = lin_.plan.ops[id];
  if (!r.count.valid()) r.count = types().dims.newSym({"n", types::DimSymKind::Unknown, 0, {}});
  dimHome_[r.count] = uses_.regionOf(id);
  return types().dims.symbol(r.count);
}

} // namespace melix::transforms
