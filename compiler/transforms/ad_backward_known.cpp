// Values of g in f_bwd: made again where that is cheap, else saved in the forward companion.
//
// A read of an array from outside a loop or nest is made again, so what is saved is the array, once, by
// reference; not so if the array is updated later: then keeping it would cost a copy at every update.

#include "core/nest.h"
#include "transforms/ad_backward.h"

#include <algorithm>

namespace melix::transforms {

ValueId Backward::known(ValueId v) {
  assert(!linear(v) && "a tangent is no known value");
  for (Scope* s = cur_; s; s = s->parent)
    if (auto it = s->known.find(v); it != s->known.end()) return it->second;
  Scope& home = scopeOf(homeOf(v));
  int budget = 24;
  if (free(v, levelOf(home), budget)) return cur_->known[v] = again(v);
  return residual(home, v);
}

std::vector<ValueId> Backward::knownAll(std::span<const ValueId> vs) {
  std::vector<ValueId> out;
  for (ValueId v : vs) out.push_back(known(v));
  return out;
}

/// The loop, nest or function around a scope.
const Backward::Scope& Backward::levelOf(const Scope& s) const {
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
bool Backward::free(ValueId v, const Scope& level, int& budget) {
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
bool Backward::collectedBy(ValueId v, ValueId& result, std::vector<ValueId>& indices) const {
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
ValueId Backward::again(ValueId v) {
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

ValueId Backward::residual(Scope& home, ValueId v) {
  ValueId p = home.e.placeholder(typeOf(v));
  home.residuals.push_back(v);
  return home.known[v] = p;
}

// --- residual items
// -----------------------------------------------------------------------------------------------

/// The items of a scope's region and what stands for them here. The first backward companion decides them.
const std::vector<ResidualItem>& Backward::close(Scope& s, Roots& roots) {
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

void Backward::define(Scope& s, ValueId target, Op op) {
  Function& f = s.e.fn();
  op.loc = s.e.loc;
  op.results = {target};
  OpId id = f.ops.add(std::move(op));
  f.values[target].def = id;
  f.values[target].index = 0;
  s.prologue.push_back(id);
}

void Backward::defineParam(Scope& s, ValueId target) {
  Function& f = s.e.fn();
  f.values[target].region = s.e.region;
  f.values[target].index = static_cast<uint32_t>(f.regions[s.e.region].params.size());
  f.regions[s.e.region].params.push_back(target);
}

/// Unpacks groups into the placeholders of their values.
void Backward::openItems(Scope& s, const std::vector<ResidualItem>& items, const Roots& roots) {
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

void Backward::placePrologue(Scope& s) {
  std::vector<OpId>& ops = s.e.fn().regions[s.e.region].ops;
  ops.insert(ops.begin() + static_cast<long>(s.prologueAt), s.prologue.begin(), s.prologue.end());
}

/// A value of g, made by the forward companion beside the results of op `id`.
ValueId Backward::carrier(OpId id, size_t k, TypeId t) {
  OpResidual& r = lin_.plan.ops[id];
  if (k < r.carriers.size()) return r.carriers[k];
  assert(!lin_.planned && k == r.carriers.size());
  ValueId v = ad_.module.functions[lin_.source].values.add(Value{t, {}, {}, 0, {}});
  lin_.carrierHome[v] = uses_.regionOf(id);
  r.carriers.push_back(v);
  return v;
}

} // namespace melix::transforms
