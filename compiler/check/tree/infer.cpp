#include "check/tree/infer.h"

#include <algorithm>
#include <map>

namespace melix::check {

using types::DimSymKind;
using types::Type;

TypeId Inference::freshVar(VarClass cls, Span span) {
  vars_.push_back({cls, TypeId::none(), span, 0});
  return types_.var(static_cast<uint32_t>(vars_.size() - 1));
}

DimSym Inference::freshDim(std::string name, Span span) {
  return types_.dims.newSym({std::move(name), DimSymKind::Inference, 0, span});
}

TypeId Inference::shallow(TypeId t) const {
  while (types_.kind(t) == TypeKind::Var) {
    const VarInfo& var = vars_[types_[t].number];
    if (!var.bound) return t;
    t = var.bound;
  }
  return t;
}

DimId Inference::zonk(DimId d) {
  // Solutions may mention symbols solved later, so this runs to a fixed point; occurs checks keep it finite.
  for (int round = 0; round < 64; ++round) {
    DimId next = types_.dims.substitute(d, solved_);
    if (next == d) return d;
    d = next;
  }
  return d;
}

TypeId Inference::zonkRecord(TypeId t) {
  return types_[t].record ? mapArgs(t, [this](TypeId arg) { return zonk(arg); }) : t;
}

/// Template values and what pullbacks keep, as the settled instance has them.
TypeId Inference::zonkTemplate(TypeId t) {
  if (templates_.empty() && records_.empty()) return t;
  Type type = types_[t];
  if (type.kind != TypeKind::Known && !type.record) return t;
  type.known = templateOf(type.known);
  type.record = recordOf(type.record);
  return types_.intern(std::move(type));
}

types::KnownId Inference::templateOf(types::KnownId id) const {
  auto found = templates_.find(id);
  return found == templates_.end() ? id : found->second;
}

types::RecordId Inference::recordOf(types::RecordId id) const {
  auto found = records_.find(id);
  return found == records_.end() ? id : found->second;
}

void Inference::settleTemplates(TypeId open, TypeId settled) {
  const Type &o = types_[open], &s = types_[settled];
  if (o.kind == TypeKind::Known && s.kind == TypeKind::Known && o.known != s.known)
    templates_.add(o.known, s.known);
  if (o.record && s.record && o.record != s.record && types_.recordInfo(o.record).isSaved)
    records_.add(o.record, s.record);
  for (size_t k = 0; k < o.parts.size() && k < s.parts.size(); ++k) settleTemplates(o.parts[k], s.parts[k]);
}

TypeId Inference::zonk(TypeId t) {
  TypeId solved = types_.rewrite(t, [this](TypeId part) {
    TypeId found = shallow(part);
    return found == part ? zonkTemplate(zonkRecord(part)) : zonk(found);
  });
  std::vector<DimSym> symbols;
  types_.collectSymbols(solved, symbols);
  types::DimSubst subst;
  for (DimSym s : symbols) {
    DimId self = types_.dims.symbol(s);
    if (DimId value = zonk(self); value != self) subst.emplace(s, value);
  }
  return subst.empty() ? solved : types_.substitute(solved, subst);
}

bool Inference::isOpen(TypeId t) const { return types_.kind(shallow(t)) == TypeKind::Var; }

VarClass Inference::varClass(TypeId t) const { return vars_[types_[shallow(t)].number].cls; }

bool Inference::hasOpen(TypeId t) {
  bool open = false;
  std::function<TypeId(TypeId)> look = [&](TypeId part) {
    open |= types_.kind(part) == TypeKind::Var;
    if (types::RecordId record = types_[part].record)
      for (TypeId arg : types_.recordInfo(record).typeArgs) types_.rewrite(arg, look);
    return part;
  };
  types_.rewrite(zonk(t), look);
  return open;
}

TypeId Inference::withOwnSizes(TypeId t, FunctionRef<bool(DimSym)> isOpen) {
  t = zonk(t);
  types::DimStore& dims = types_.dims;
  types::DimSubst alone;
  std::map<DimId, DimId> made; // of a size that is not a symbol
  auto own = [&](std::string name, Span span, DimSym of) {
    const DimSym mine = freshDim(std::move(name), span);
    if (mayDiffer_.contains(of)) mayDiffer_.insert(mine);
    return dims.symbol(mine);
  };
  types_.rewrite(t, [&](TypeId part) {
    for (DimId d : types_[part].dims)
      if (auto s = dims.asSymbol(d); s && isOpen(*s) && !alone.contains(*s)) {
        const types::DimSymInfo info = dims.info(*s);
        alone.emplace(*s, own(info.name, info.origin, *s));
      }
    return part;
  });
  auto ownSize = [&](DimId d) {
    const auto known = made.find(d);
    if (known != made.end()) return known->second;
    std::vector<DimSym> symbols;
    dims.collectSymbols(d, symbols);
    const auto open = std::find_if(symbols.begin(), symbols.end(),
                                   [&](DimSym s) { return isOpen(s) && !alone.contains(s); });
    const DimId mine =
        open == symbols.end() ? dims.substitute(d, alone) : own("_", Span(dims.info(*open).origin), *open);
    return made.emplace(d, mine).first->second;
  };
  return types_.rewrite(t, [&](TypeId part) {
    types::Type type = types_[part];
    if (type.dims.empty()) return part;
    for (DimId& d : type.dims) d = ownSize(d);
    return type.kind == TypeKind::Array ? types_.array(type.parts[0], std::move(type.dims))
                                        : types_.intern(std::move(type));
  });
}

TypeId Inference::withOwnUnknowns(TypeId t) {
  auto isOpen = [&](DimSym s) { return types_.dims.info(s).kind == DimSymKind::Inference; };
  return mapVars(withOwnSizes(t, isOpen), [&](TypeId var) {
    return isAny(var) ? freshVar(VarClass::Any, vars_[types_[var].number].span) : var;
  });
}

TypeId Inference::mapVars(TypeId t, FunctionRef<TypeId(TypeId)> map) {
  return types_.rewrite(t, [&](TypeId part) {
    if (types_.kind(part) == TypeKind::Var) return map(part);
    return types_[part].record ? mapArgs(part, [&](TypeId arg) { return mapVars(arg, map); }) : part;
  });
}

TypeId Inference::mapArgs(TypeId record, FunctionRef<TypeId(TypeId)> map) {
  std::vector<TypeId> args = types_.typeArgs(record);
  bool changed = false;
  for (TypeId& arg : args) {
    TypeId mapped = map(arg);
    changed |= mapped != arg;
    arg = mapped;
  }
  return changed ? atArguments_(record, std::move(args)) : record;
}

std::vector<TypeId> Inference::openVars(const std::vector<TypeId>& in) {
  std::vector<TypeId> found;
  for (TypeId t : in)
    mapVars(zonk(t), [&](TypeId var) {
      if (std::find(found.begin(), found.end(), var) == found.end()) found.push_back(var);
      return var;
    });
  return found;
}

bool Inference::hasInferenceDim(DimId d) { return types_.dims.mentionsKind(zonk(d), DimSymKind::Inference); }

bool Inference::hasInferenceDim(TypeId t) { return !inferenceDims(t).empty(); }

std::vector<DimSym> Inference::inferenceDims(TypeId t) {
  std::vector<DimSym> symbols;
  types_.collectSymbols(zonk(t), symbols);
  std::erase_if(symbols, [this](DimSym s) { return types_.dims.info(s).kind != DimSymKind::Inference; });
  return symbols;
}

void Inference::letDiffer(TypeId type) {
  for (DimSym s : inferenceDims(type)) mayDiffer_.insert(s);
}

bool Inference::mayDiffer(TypeId type) {
  return std::ranges::any_of(inferenceDims(type), [this](DimSym s) { return mayDiffer_.contains(s); });
}

/// Of two unsolved variables one stands for both from here on: the one that more stand behind, so that the
/// way to it stays short. The more demanding class survives: float over int over anything.
void Inference::join(TypeId a, TypeId b) {
  auto info = [&](TypeId var) -> const VarInfo& { return vars_[types_[var].number]; };
  if (info(a).behind > info(b).behind) std::swap(a, b);
  const VarInfo other = info(a);
  VarInfo& stays = changed(b);
  stays.behind += other.behind + 1;
  if (static_cast<int>(other.cls) > static_cast<int>(stays.cls)) stays.cls = other.cls;
  stays.metError |= other.metError;
  changed(a).bound = b;
}

bool Inference::bindVar(TypeId var, TypeId to) {
  if (types_.kind(to) == TypeKind::Var) {
    join(var, to);
    return true;
  }
  const VarInfo& info = vars_[types_[var].number];
  TypeKind kind = types_.kind(to);
  bool fits = info.cls == VarClass::Any || kind == TypeKind::Error || kind == TypeKind::Never ||
              types_.isFloat(to) || types::scalarClass(kind) == types::ScalarClass::Complex ||
              (info.cls == VarClass::OpenInt && types_.isNumber(to));
  if (!fits || (!types_.isScalar(to) && isInside(var, to))) return false;
  if (kind != TypeKind::Never) changed(var).bound = to;
  return true;
}

/// What is unified with an error stays open, for something else may settle it; that nothing does is not told.
void Inference::noteError(TypeId type) {
  if (types_.kind(type) == TypeKind::Var) changed(type).metError = true;
}

/// Whether a type would be a part of itself if the variable, which nothing is bound to, stood for it.
bool Inference::isInside(TypeId var, TypeId type) {
  const std::vector<TypeId> open = openVars({type});
  return std::find(open.begin(), open.end(), var) != open.end();
}

bool Inference::solve(DimSym s, DimId value) {
  DimId self = types_.dims.symbol(s);
  value = zonk(value);
  if (value == self) return true;
  if (solved_.contains(s) || types_.dims.mentions(value, s)) return false;
  solved_.add(s, value);
  return true;
}

UnifyKind Inference::unifyDim(DimId expected, DimId actual) {
  types::DimStore& dims = types_.dims;
  DimId a = zonk(expected), b = zonk(actual);
  if (a == b) return UnifyKind::Equal;
  for (auto [bare, other] : {std::pair(a, b), std::pair(b, a)})
    if (auto s = dims.asSymbol(bare); s && dims.info(*s).kind == DimSymKind::Inference && solve(*s, other))
      return UnifyKind::Equal;
  return areDifferent(a, b, equalHere) ? UnifyKind::DimsDiffer : UnifyKind::NeedsCheck;
}

bool Inference::areDifferent(DimId one, DimId other, const types::DimSubst& equal) {
  types::DimStore& dims = types_.dims;
  const DimId a = zonk(one), b = zonk(other);
  if (dims.substitute(a, equal) == dims.substitute(b, equal)) return false;
  bool unknown = false;
  for (DimId d : {a, b})
    unknown |= dims.mentionsKind(d, DimSymKind::Unknown) || dims.mentionsKind(d, DimSymKind::Value) ||
               dims.mentionsKind(d, DimSymKind::Inference) || dims.hasOpaqueAtom(d);
  return !unknown;
}

/// From here on the variable `bare` stands for `equal`.
void Inference::assume(DimId bare, DimId equal) {
  types::DimStore& dims = types_.dims;
  equal = dims.substitute(zonk(equal), equalHere);
  auto symbol = dims.asSymbol(dims.substitute(zonk(bare), equalHere));
  if (!symbol || dims.mentions(equal, *symbol)) return;
  types::DimSubst& known = equalHere.edit();
  for (auto& [each, dim] : known) dim = dims.substitute(dim, {{*symbol, equal}});
  known.emplace(*symbol, equal);
}

void Inference::join(UnifyResult& into, UnifyResult part) const {
  into.checks.insert(into.checks.end(), part.checks.begin(), part.checks.end());
  if (static_cast<int>(part.kind) > static_cast<int>(into.kind)) {
    into.kind = part.kind;
    into.left = part.left;
    into.right = part.right;
    into.asked = part.asked;
    into.axis = part.axis;
  }
}

UnifyResult Inference::unify(TypeId expected, TypeId actual) {
  TypeId a = shallow(expected), b = shallow(actual);
  if (a == b) return {};
  TypeKind ka = types_.kind(a), kb = types_.kind(b);
  if (ka == TypeKind::Error) noteError(b);
  if (kb == TypeKind::Error) noteError(a);
  if (ka == TypeKind::Error || kb == TypeKind::Error || kb == TypeKind::Never) return {};
  UnifyResult mismatch;
  mismatch.kind = UnifyKind::Mismatch;
  if (ka == TypeKind::Var) return bindVar(a, b) ? UnifyResult{} : mismatch;
  if (kb == TypeKind::Var) return bindVar(b, a) ? UnifyResult{} : mismatch;
  if (ka != kb) return mismatch;
  if (ka != TypeKind::Array) return unifyParts(a, b);
  bool bound = bindRows(a, b) || bindRows(b, a);
  if (bound || holdsArray(a) || holdsArray(b)) return unify(zonk(a), zonk(b));
  return unifyParts(a, b);
}

/// `T[N]` where T has become an array.
bool Inference::holdsArray(TypeId array) const {
  return types_.kind(shallow(types_[array].parts[0])) == TypeKind::Array;
}

/// `T[N]` beside an array of more axes: what T stands for is an array of the others (rule 7).
bool Inference::bindRows(TypeId few, TypeId more) {
  const Type &f = types_[few], &m = types_[more];
  TypeId element = shallow(f.parts[0]);
  if (f.dims.size() >= m.dims.size() || types_.kind(element) != TypeKind::Var) return false;
  if (varClass(element) != VarClass::Any) return false;
  return bindVar(element, types_.array(m.parts[0], {m.dims.begin() + static_cast<ptrdiff_t>(f.dims.size()),
                                                    m.dims.end()}));
}

UnifyResult Inference::unifyParts(TypeId a, TypeId b) {
  const Type &ta = types_[a], &tb = types_[b];
  UnifyResult result;
  bool sameShape = ta.parts.size() == tb.parts.size() && ta.dims.size() == tb.dims.size() &&
                   ta.record == tb.record && ta.known == tb.known && ta.inout == tb.inout &&
                   ta.number == tb.number && types::scalarClass(ta.kind) == types::ScalarClass::None;
  if (!sameShape && ta.kind != TypeKind::Struct && ta.kind != TypeKind::Enum) {
    result.kind = UnifyKind::Mismatch;
    return result;
  }
  size_t ownDims = std::min(ta.dims.size(), tb.dims.size());
  if (ta.record && tb.record) {
    // Records at different type arguments may still agree once open arguments are solved.
    const types::Record &ra = types_.recordInfo(ta.record), &rb = types_.recordInfo(tb.record);
    if (ta.record != tb.record &&
        (ra.declaration != rb.declaration || ra.tangentOf.valid() != rb.tangentOf.valid() ||
         ra.isPositional != rb.isPositional || ra.typeArgs.size() != rb.typeArgs.size() ||
         ra.typeArgs.empty())) {
      result.kind = UnifyKind::Mismatch;
      return result;
    }
    ownDims = ra.ownDims();
    const std::vector<TypeId>&argsA = types_.typeArgs(a), &argsB = types_.typeArgs(b);
    for (size_t k = 0; k < argsA.size(); ++k) join(result, unify(argsA[k], argsB[k]));
  }
  for (size_t k = 0; k < ta.parts.size(); ++k) join(result, unify(ta.parts[k], tb.parts[k]));
  if (ta.result) join(result, unify(ta.result, tb.result));
  // Bare unknown extents first, so that expressions over them are compared with what they became.
  std::vector<bool> done(ta.dims.size(), false);
  for (int pass = 0; pass < 2; ++pass)
    for (size_t k = 0; k < ownDims; ++k) {
      if (done[k]) continue;
      DimId za = zonk(ta.dims[k]), zb = zonk(tb.dims[k]);
      auto bare = [&](DimId d) {
        auto s = types_.dims.asSymbol(d);
        return s && types_.dims.info(*s).kind == DimSymKind::Inference;
      };
      if (pass == 0 && !bare(za) && !bare(zb)) continue;
      done[k] = true;
      UnifyKind kind = unifyDim(za, zb);
      UnifyResult part;
      part.kind = kind;
      part.left = za, part.right = zb, part.asked = ta.dims[k], part.axis = static_cast<uint32_t>(k);
      if (kind == UnifyKind::NeedsCheck) part.checks.push_back({za, zb, "", {}, static_cast<uint32_t>(k)});
      join(result, std::move(part));
    }
  return result;
}

void Inference::settle(std::vector<Span>& unsolved) {
  for (size_t k = 0; k < vars_.size(); ++k) {
    if (vars_[k].bound) continue;
    VarInfo& var = vars_.edit(k);
    switch (var.cls) {
    case VarClass::OpenInt: var.bound = types_.int64(); break;
    case VarClass::OpenFloat: var.bound = types_.scalar(TypeKind::F32); break;
    case VarClass::Any:
      if (!var.metError) unsolved.push_back(var.span);
      var.bound = types_.error();
      break;
    }
  }
}

} // namespace melix::check
