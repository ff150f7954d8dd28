// Values of g in f_bwd: made again where that is cheap, else saved in the forward companion.
//
// A read of an array from outside a loop or nest is made again, so what is saved is the array, once, by
// reference; not so if the array is updated later: then keeping it would cost a copy at every update.

#include "transforms/ad_backward_known.h"

#include "core/walk.h"

#include <algorithm>

namespace melix::transforms {

KnownValues::KnownValues(Ad& ad, Linearisation& lin) : ad_(ad), lin_(lin), uses_(ad.module, lin.source) {
  forEachOp(g(), [&](OpId id) {
    for (DimSym s : opOf(id).resultDims) dimHome_[s] = uses_.regionOf(id);
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

KnownValues::Scope& KnownValues::scopeOf(RegionId home) {
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
  scopeOf(home->second).dims.push_back(s);
  dims_[s] = types().dims.symbol(ad_.freshDim(s));
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

ValueId KnownValues::known(ValueId v) {
  assert(!linear(v) && "a tangent is no known value");
  for (Scope* s = cur_; s; s = s->parent)
    if (auto it = s->known.find(v); it != s->known.end()) return it->second;
  Scope& home = scopeOf(homeOf(v));
  int budget = 24;
  if (free(v, levelOf(home), budget)) return cur_->known[v] = again(v);
  return residual(home, v);
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

static bool cheapOp(const Function& g, const types::TypeStore& types, const Op& o, bool floats) {
  switch (o.kind) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Neg:
  case OpKind::Min:
  case OpKind::Max:
  case OpKind::Abs:
  case OpKind::Select:
  case OpKind::Cmp:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Not:
  case OpKind::Xor:
  case OpKind::Convert:
  case OpKind::IDiv:
  case OpKind::IRem:
  case OpKind::Shl:
  case OpKind::Shr: break;
  default: return false;
  }
  if (!types.isScalar(g.typeOf(o.results[0]))) return false;
  if (floats) return true;
  for (ValueId v : o.operands)
    if (types.isFloat(g.typeOf(v))) return false;
  return !types.isFloat(g.typeOf(o.results[0]));
}

/// Whether `v`, defined within `level`, can be had without saving anything at `level`.
bool KnownValues::free(ValueId v, const Scope& level, int& budget) {
  for (Scope* s = cur_; s; s = s->parent)
    if (s->known.count(v)) return true;
  const Scope& own = levelOf(scopeOf(homeOf(v)));
  if (&own != &level) return true; // from outside: saved there, once
  if (--budget <= 0) return false;
  OpId def = g().values[v].def;
  if (!def.valid()) return false;
  const Op& o = opOf(def);
  switch (o.kind) {
  case OpKind::Const: return types().kind(g().typeOf(v)) != TypeKind::Str;
  case OpKind::DimValue: return true;
  case OpKind::Undef:
  case OpKind::Zero: return types().isScalar(g().typeOf(v));
  default: break;
  }
  bool repeats = level.kind != ScopeKind::Function;
  ValueId result;
  std::vector<ValueId> indices;
  if (repeats && collectedBy(v, result, indices)) return true;
  if (o.kind == OpKind::Get && repeats) {
    ValueId x = o.operands[0];
    // What is read must come from outside; it may be a place of a place.
    if (&levelOf(scopeOf(homeOf(x))) == &level && !free(x, level, budget)) return false;
    if (updated(x)) {
      // Worth keeping whole only if the nest walks all of it.
      if (level.kind != ScopeKind::Nest) return false;
      const types::Type& t = types()[g().typeOf(x)];
      if (t.kind != TypeKind::Array || o.operands.size() != t.dims.size() + 1) return false;
      const Op& n = opOf(g().regions[level.source].parent);
      const std::vector<ValueId>& axes = g().regions[level.source].params;
      for (size_t i = 0; i < t.dims.size(); ++i) {
        auto axis = std::find(axes.begin(), axes.end(), o.operands[i + 1]);
        size_t at = static_cast<size_t>(axis - axes.begin());
        if (at >= n.dims.size() || n.dims[at] != t.dims[i]) return false;
      }
    }
    for (size_t i = 1; i < o.operands.size(); ++i)
      if (!free(o.operands[i], level, budget)) return false;
    return true;
  }
  if (!cheapOp(g(), types(), o, repeats)) return false;
  for (ValueId x : o.operands)
    if (!free(x, level, budget)) return false;
  return true;
}

/// A value of a nest's body that a result of the nest holds for every point.
bool KnownValues::collectedBy(ValueId v, ValueId& result, std::vector<ValueId>& indices) const {
  RegionId home = homeOf(v);
  OpId parent = g().regions[home].parent;
  if (!parent.valid() || opOf(parent).kind != OpKind::Nest || opOf(parent).regions[0] != home) return false;
  if (!types().isScalar(g().typeOf(v))) return false;
  const NestView nest(g(), opOf(parent));
  for (const NestPart& part : nest.parts()) {
    const ValueId held = nest.results(part)[0];
    if (part.spec->kind != NestResultKind::Collect || nest.yields(part)[0] != v || updated(held)) continue;
    result = held;
    for (uint32_t a : part.spec->keep) indices.push_back(nest.axisParams()[a]);
    return true;
  }
  return false;
}

/// The value once more, at the current place.
ValueId KnownValues::again(ValueId v) {
  OpId def = g().values[v].def;
  assert(def.valid());
  ValueId result;
  std::vector<ValueId> indices;
  if (levelOf(scopeOf(homeOf(v))).kind != ScopeKind::Function && collectedBy(v, result, indices)) {
    ValueId whole = known(result);
    std::vector<ValueId> at = knownAll(indices);
    return cur_->e.getAt(whole, at, typeOf(v));
  }
  Op copy;
  {
    const Op& o = opOf(def);
    copy.kind = o.kind;
    copy.attr = o.attr;
    copy.operands = o.operands;
    copy.dims = o.dims;
  }
  for (ValueId& x : copy.operands) x = known(x);
  for (DimId& d : copy.dims) d = dim(d);
  if (auto* p = std::get_if<Path>(&copy.attr)) *p = path(*p);
  return cur_->e.one(std::move(copy), typeOf(v));
}

ValueId KnownValues::residual(Scope& home, ValueId v) {
  ValueId p = home.e.placeholder(typeOf(v));
  home.residuals.push_back(v);
  return home.known[v] = p;
}

// --- residual items
// -----------------------------------------------------------------------------------------------

/// The items of a scope's region and what stands for them here. The first backward companion decides them.
const std::vector<ResidualItem>& KnownValues::close(Scope& s, Roots& roots) {
  auto [it, isNew] = lin_.plan.regions.try_emplace(s.source);
  std::vector<ResidualItem>& items = it->second;
  if (!lin_.planned) {
    assert(isNew && "a region is transposed once");
    std::vector<ValueId> packed, single;
    for (ValueId v : s.residuals) {
      std::vector<DimSym> symbols;
      types().collectSymbols(g().typeOf(v), symbols);
      bool inner = false;
      for (DimSym d : s.dims) inner |= std::find(symbols.begin(), symbols.end(), d) != symbols.end();
      (inner ? packed : single).push_back(v);
    }
    if (!s.dims.empty()) {
      std::vector<TypeId> parts;
      for (ValueId v : packed) parts.push_back(g().typeOf(v));
      items.push_back({types().pack(types().tuple(parts), s.dims), packed, s.dims});
    }
    for (ValueId v : single) items.push_back({g().typeOf(v), {v}, {}});
  }
  Scope* outer = cur_;
  cur_ = &s;
  for (const ResidualItem& item : items) {
    if (!item.hidden.empty()) {
      for (DimSym d : item.hidden) needDim(d);
      roots.push_back(s.e.placeholder(type(item.type)));
      continue;
    }
    auto at = s.known.find(item.values[0]);
    roots.push_back(at != s.known.end() ? at->second : s.e.placeholder(typeOf(item.values[0])));
  }
  cur_ = outer;
  return items;
}

void KnownValues::define(Scope& s, ValueId target, Op op) {
  Function& f = s.e.fn();
  op.loc = s.e.loc;
  op.results = {target};
  OpId id = f.ops.add(std::move(op));
  f.values[target].def = id;
  f.values[target].index = 0;
  s.prologue.push_back(id);
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

/// How many iterations a `for` had: its own size where it collects, else one that the companion defines.
DimSym KnownValues::extentOfItems(OpId id, const LoopView& loop) {
  if (loop.extent().valid()) return loop.extent();
  OpResidual& r = lin_.plan.ops[id];
  if (!r.count.valid()) r.count = types().dims.newSym({"n", types::DimSymKind::Unknown, 0, {}});
  dimHome_[r.count] = uses_.regionOf(id);
  return r.count;
}

} // namespace melix::transforms
