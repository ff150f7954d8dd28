#include "types/types.h"

#include <algorithm>
#include <cassert>
#include <optional>

namespace melix::types {

ScalarClass scalarClass(TypeKind kind) {
  switch (kind) {
#define SCALAR(Kind, Text, Bits, Class)                                                                      \
  case TypeKind::Kind: return ScalarClass::Class;
#include "types/types.def"
  default: return ScalarClass::None;
  }
}

unsigned scalarBits(TypeKind kind) {
  switch (kind) {
#define SCALAR(Kind, Text, Bits, Class)                                                                      \
  case TypeKind::Kind: return Bits;
#include "types/types.def"
  default: return 0;
  }
}

std::string_view scalarName(TypeKind kind) {
  switch (kind) {
#define SCALAR(Kind, Text, Bits, Class)                                                                      \
  case TypeKind::Kind: return Text;
#include "types/types.def"
  default: return "";
  }
}

size_t TypeStore::Hash::operator()(const Type& t) const {
  size_t h = static_cast<size_t>(t.kind);
  auto mix = [&](uint32_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 29); };
  for (TypeId p : t.parts) mix(p.index);
  for (DimId d : t.dims) mix(d.index);
  for (bool b : t.inout) mix(b);
  mix(t.result.index);
  mix(t.record.index);
  mix(t.known.index);
  mix(t.number);
  return h;
}

TypeStore::TypeStore(Interner& interner) : names(interner) {
  constexpr unsigned kinds = 0
#define SCALAR(Kind, Text, Bits, Class) +1
#define TYPE(Kind) +1
#include "types/types.def"
      ;
  for (unsigned k = 0; k < kinds; ++k) {
    Type t;
    t.kind = static_cast<TypeKind>(k);
    simple_.push_back(intern(std::move(t)));
  }
  unit_ = tuple({});
}

TypeId TypeStore::intern(Type type) {
  auto [it, fresh] = ids_.try_emplace(std::move(type));
  if (!fresh) return it->second;
  TypeId id = it->second = TypeId(static_cast<uint32_t>(types_.size()));
  types_.push_back(&it->first);
  if (types_.back()->record.valid()) keepArgs(id);
  return id;
}

TypeId TypeStore::array(TypeId element, std::vector<DimId> dims) {
  if (dims.empty()) return element;
  Type t;
  t.kind = TypeKind::Array;
  const Type& inner = (*this)[element];
  if (inner.kind == TypeKind::Array) {
    t.parts = inner.parts;
    dims.insert(dims.end(), inner.dims.begin(), inner.dims.end());
  } else {
    t.parts = {element};
  }
  t.dims = std::move(dims);
  return intern(std::move(t));
}

TypeId TypeStore::tuple(std::vector<TypeId> parts) {
  Type t;
  t.kind = TypeKind::Tuple;
  t.parts = std::move(parts);
  return intern(std::move(t));
}

static Type around(TypeKind kind, TypeId inner) {
  Type t;
  t.kind = kind;
  t.parts = {inner};
  return t;
}

TypeId TypeStore::list(TypeId element) { return intern(around(TypeKind::List, element)); }
TypeId TypeStore::acc(TypeId inner) { return intern(around(TypeKind::Acc, inner)); }

TypeId TypeStore::function(std::vector<TypeId> params, std::vector<bool> inout, TypeId result) {
  Type t;
  t.kind = TypeKind::Function;
  t.parts = std::move(params);
  t.inout = std::move(inout);
  t.inout.resize(t.parts.size());
  t.result = result;
  return intern(std::move(t));
}

TypeId TypeStore::known(KnownId id, std::vector<TypeId> captures) {
  Type t;
  t.kind = TypeKind::Known;
  t.known = id;
  t.parts = std::move(captures);
  return intern(std::move(t));
}

TypeId TypeStore::var(uint32_t id) {
  Type t;
  t.kind = TypeKind::Var;
  t.number = id;
  return intern(std::move(t));
}

TypeId TypeStore::param(TypeParam declared) {
  params_.push_back(declared);
  Type t;
  t.kind = TypeKind::Param;
  t.number = static_cast<uint32_t>(params_.size() - 1);
  return intern(std::move(t));
}

TypeId TypeStore::slope(TypeId param) { return intern(around(TypeKind::Slope, param)); }

bool TypeStore::offers(TypeId id, ParamClass cls) const {
  if (!isParam(id)) return false;
  ParamClass own = paramInfo(id).cls;
  return own == cls || (own > cls && cls != ParamClass::Int);
}

bool TypeStore::holds(TypeId id, TypeKind kind) const {
  const Type& t = (*this)[id];
  auto inside = [this, kind](TypeId part) { return holds(part, kind); };
  return t.kind == kind || std::any_of(t.parts.begin(), t.parts.end(), inside) ||
         (t.result.valid() && inside(t.result)) ||
         (t.record.valid() &&
          std::any_of(recordInfo(t.record).typeArgs.begin(), recordInfo(t.record).typeArgs.end(), inside));
}

bool TypeStore::isScalar(TypeId id) const {
  return scalarClass(kind(id)) != ScalarClass::None || offers(id, ParamClass::Number);
}

TypeId TypeStore::element(TypeId id) const {
  const Type& t = (*this)[id];
  return t.kind == TypeKind::Array ? t.parts[0] : id;
}

bool TypeStore::keepsSizes(TypeId id) const {
  const Type& t = (*this)[id];
  if (t.kind != TypeKind::Array && t.kind != TypeKind::Tuple) return t.kind == TypeKind::Pack;
  return std::any_of(t.parts.begin(), t.parts.end(), [this](TypeId part) { return keepsSizes(part); });
}

bool TypeStore::isMadeWith(TypeId id, FunctionRef<bool(TypeKind)> wanted) const {
  std::vector<RecordId> seen;
  return isMadeWith(id, wanted, seen);
}

/// A recursive record is looked at once.
bool TypeStore::isMadeWith(TypeId id, FunctionRef<bool(TypeKind)> wanted, std::vector<RecordId>& seen) const {
  const Type& t = (*this)[id];
  auto holds = [&](TypeId part) { return isMadeWith(part, wanted, seen); };
  if (wanted(t.kind) || std::ranges::any_of(t.parts, holds)) return true;
  if (!t.record.valid() || std::find(seen.begin(), seen.end(), t.record) != seen.end()) return false;
  seen.push_back(t.record);
  for (const EnumCase& c : recordInfo(t.record).cases)
    for (const Field& field : c.fields)
      if (holds(field.type)) return true;
  return false;
}

bool TypeStore::holdsFunction(TypeId id) const {
  return isMadeWith(id, [](TypeKind kind) { return kind == TypeKind::Function || kind == TypeKind::Known; });
}

size_t TypeStore::rank(TypeId id) const {
  const Type& t = (*this)[id];
  return t.kind == TypeKind::Array ? t.dims.size() : 0;
}

// --- hidden dimensions
// -------------------------------------------------------------------------------------------- Note: Bound
// symbols count outwards. In a pack of n dims, symbols 0..n are its own and symbol n + i is symbol i of the
// pack around it; so going into a pack shifts free Bound symbols by n, on both sides of a substitution.

DimSym TypeStore::boundSym(uint32_t i) {
  while (bound_.size() <= i) {
    std::string name = bound_.empty() ? "_" : "_" + std::to_string(bound_.size());
    bound_.push_back(dims.newSym({name, DimSymKind::Bound, 0, {}}));
  }
  return bound_[i];
}

static DimId shiftBound(TypeStore& types, DimId d, int64_t by) {
  std::vector<DimSym> syms;
  types.dims.collectSymbols(d, syms);
  DimSubst shift;
  for (DimSym s : syms) {
    if (types.dims.info(s).kind != DimSymKind::Bound) continue;
    uint32_t number = 0;
    while (types.boundSym(number) != s) ++number;
    shift.emplace(s, types.dims.symbol(types.boundSym(static_cast<uint32_t>(number + by))));
  }
  return types.dims.substitute(d, shift);
}

static DimSubst shiftedSubst(TypeStore& types, const DimSubst& subst, uint32_t by) {
  DimSubst out;
  for (auto [s, d] : subst) {
    DimId key = shiftBound(types, types.dims.symbol(s), by);
    out.emplace(*types.dims.asSymbol(key), shiftBound(types, d, by));
  }
  return out;
}

TypeId TypeStore::pack(TypeId inner, std::span<const DimSym> hidden) {
  if (hidden.empty()) return inner;
  DimSubst subst;
  std::vector<DimSym> syms;
  collectSymbols(inner, syms);
  auto count = static_cast<uint32_t>(hidden.size());
  for (DimSym s : syms)
    if (dims.info(s).kind == DimSymKind::Bound) subst.emplace(s, shiftBound(*this, dims.symbol(s), count));
  for (uint32_t i = 0; i < count; ++i) subst.insert_or_assign(hidden[i], dims.symbol(boundSym(i)));
  Type t = around(TypeKind::Pack, substitute(inner, subst));
  t.number = count;
  return intern(std::move(t));
}

TypeId TypeStore::openPack(TypeId pack, std::span<const DimId> hidden) {
  const Type& t = (*this)[pack];
  assert(t.kind == TypeKind::Pack && t.number == hidden.size() && "one dimension for each hidden one");
  TypeId inner = t.parts[0];
  DimSubst subst;
  for (uint32_t i = 0; i < hidden.size(); ++i) subst.emplace(boundSym(i), hidden[i]);
  std::vector<DimSym> syms;
  collectSymbols(pack, syms);
  for (DimSym s : syms) {
    if (dims.info(s).kind != DimSymKind::Bound) continue;
    DimId outer = dims.symbol(s);
    subst.emplace(*dims.asSymbol(shiftBound(*this, outer, static_cast<int64_t>(hidden.size()))), outer);
  }
  return substitute(inner, subst);
}

namespace {

bool isLeaf(const Type& t) { return t.parts.empty() && t.dims.empty() && !t.result.valid(); }

/// Of types that branch, what has become of them: they may stand in a type any number of times.
class Rebuilt {
public:
  template <class Make>
  TypeId of(TypeId id, const Type& type, const Make& make) {
    if (type.parts.size() + type.result.valid() < 2) return make();
    if (auto known = done_.find(id); known != done_.end()) return known->second;
    return done_.emplace(id, make()).first->second;
  }

private:
  std::unordered_map<TypeId, TypeId> done_;
};

/// The type `id` with the parts that `map` gives and, if any, other sizes; `id` itself if these are its own.
TypeId rebuild(TypeStore& types, TypeId id, const std::vector<DimId>* dims, FunctionRef<TypeId(TypeId)> map) {
  const Type& t = types[id];
  std::optional<Type> made;
  auto change = [&]() -> Type& { return made ? *made : made.emplace(t); };
  if (dims) change().dims = *dims;
  for (size_t k = 0; k < t.parts.size(); ++k)
    if (TypeId now = map(t.parts[k]); now != t.parts[k]) change().parts[k] = now;
  if (t.result.valid())
    if (TypeId now = map(t.result); now != t.result) change().result = now;
  if (!made) return id;
  if (t.kind == TypeKind::Array) return types.array(made->parts[0], std::move(made->dims));
  return types.intern(std::move(*made));
}

} // namespace

TypeId TypeStore::substitute(TypeId id, const DimSubst& subst) {
  if (subst.empty() || isLeaf((*this)[id])) return id;
  Rebuilt done;
  std::function<TypeId(TypeId)> replaced = [&](TypeId at) {
    return done.of(at, (*this)[at], [&] {
      const Type& t = (*this)[at];
      std::vector<DimId> sizes = t.dims;
      for (DimId& d : sizes) d = dims.substitute(d, subst);
      const std::vector<DimId>* other = sizes == t.dims ? nullptr : &sizes;
      if (t.kind != TypeKind::Pack) return rebuild(*this, at, other, replaced);
      const DimSubst inner = shiftedSubst(*this, subst, t.number);
      return rebuild(*this, at, other, [&](TypeId part) { return substitute(part, inner); });
    });
  };
  return replaced(id);
}

TypeId TypeStore::rewrite(TypeId id, FunctionRef<TypeId(TypeId)> map) {
  if (isLeaf((*this)[id])) return map(id);
  Rebuilt done;
  std::function<TypeId(TypeId)> mapped = [&](TypeId at) {
    return done.of(at, (*this)[at], [&] { return map(rebuild(*this, at, nullptr, mapped)); });
  };
  return mapped(id);
}

TypeId TypeStore::eraseDims(TypeId id) {
  return rewrite(id, [this](TypeId part) {
    Type t = (*this)[part];
    for (uint32_t k = 0; k < t.dims.size(); ++k) t.dims[k] = dims.symbol(boundSym(k));
    return t.kind == TypeKind::Array ? array(t.parts[0], std::move(t.dims)) : intern(std::move(t));
  });
}

void TypeStore::collectSymbols(TypeId id, std::vector<DimSym>& out) const {
  const std::vector<DimSym>& all = symbolsOf(id);
  if (out.empty()) return out.assign(all.begin(), all.end());
  for (DimSym s : all)
    if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
}

/// Found once: types stay what they are.
const std::vector<DimSym>& TypeStore::symbolsOf(TypeId id) const {
  if (const auto known = symbols_.find(id); known != symbols_.end()) return known->second;
  const Type& t = (*this)[id];
  std::vector<DimSym> out;
  for (DimId d : t.dims) dims.collectSymbols(d, out);
  if (t.kind == TypeKind::Pack) {
    collectAround(t, out);
  } else {
    for (TypeId part : t.parts) collectSymbols(part, out);
    if (t.result.valid()) collectSymbols(t.result, out);
  }
  return symbols_.emplace(id, std::move(out)).first->second;
}

/// The symbols that a pack does not hide, as they are called outside of it.
void TypeStore::collectAround(const Type& pack, std::vector<DimSym>& out) const {
  std::vector<DimSym> inner;
  collectSymbols(pack.parts[0], inner);
  for (DimSym s : inner) {
    DimSym outer = s;
    if (dims.info(s).kind == DimSymKind::Bound) {
      auto number = static_cast<size_t>(std::find(bound_.begin(), bound_.end(), s) - bound_.begin());
      if (number < pack.number) continue;
      outer = bound_[number - pack.number];
    }
    if (std::find(out.begin(), out.end(), outer) == out.end()) out.push_back(outer);
  }
}

} // namespace melix::types
