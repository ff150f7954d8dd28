#include "types/dim_facts.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace melix::types {

namespace {

/// ⌊a / b⌋; nullopt if 64 bits do not hold it.
std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == -1) return a == INT64_MIN ? std::nullopt : std::optional(-a);
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
int64_t floorModulo(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// c·whole + rest, the rest nearest to zero (of two the positive one): what is computed of it is then no
/// greater than what is written.
struct Split {
  int64_t whole, rest;
};
Split splitBy(int64_t k, int64_t c) {
  int64_t q = *floorDivide(k, c), r = floorModulo(k, c);
  return r > c - r ? Split{q + 1, r - c} : Split{q, r};
}

/// Sorted by factors (longer products first, the constant last), like terms joined, zeros dropped; false if a
/// coefficient leaves 64 bits.
bool normalise(std::vector<DimTerm>& terms) {
  std::sort(terms.begin(), terms.end(), [](const DimTerm& a, const DimTerm& b) {
    if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size();
    return a.factors < b.factors;
  });
  std::vector<DimTerm> out;
  for (DimTerm& t : terms) {
    if (out.empty() || out.back().factors != t.factors)
      out.push_back(std::move(t));
    else if (__builtin_add_overflow(out.back().coefficient, t.coefficient, &out.back().coefficient))
      return false;
  }
  std::erase_if(out, [](const DimTerm& t) { return t.coefficient == 0; });
  terms = std::move(out);
  return true;
}

} // namespace

DimSym DimStore::newSym(DimSymInfo info) { return syms_.add(std::move(info)); }

DimId DimStore::intern(std::vector<DimTerm> terms) {
  auto [it, fresh] = dimIds_.try_emplace(std::move(terms));
  if (fresh) it->second = dims_.add(it->first);
  return it->second;
}

DimId DimStore::normal(std::vector<DimTerm> terms) {
  return normalise(terms) ? intern(std::move(terms)) : tooLarge();
}

DimId DimStore::tooLarge() {
  if (!tooLarge_.valid()) tooLarge_ = ofAtom(DimAtom{DimAtomKind::TooLarge, {}, {}});
  return tooLarge_;
}

bool DimStore::isTooLarge(DimId d) const { return tooLarge_.valid() && d == tooLarge_; }

DimAtomId DimStore::internAtom(DimAtom atom) {
  auto [it, fresh] = atomIds_.try_emplace(std::move(atom));
  if (fresh) it->second = atoms_.add(it->first);
  return it->second;
}

DimId DimStore::ofAtom(DimAtom atom) {
  DimAtomId id = internAtom(std::move(atom));
  return intern({DimTerm{1, {id}}});
}

DimId DimStore::constant(int64_t value) {
  auto [at, isNew] = constants_.try_emplace(value);
  if (isNew) at->second = value == 0 ? intern({}) : intern({DimTerm{value, {}}});
  return at->second;
}

DimId DimStore::symbol(DimSym s) {
  auto [at, isNew] = symbols_.try_emplace(s);
  if (isNew) at->second = ofAtom(DimAtom{DimAtomKind::Symbol, s, {}});
  return at->second;
}

uint64_t DimStore::keyOf(DimId a, DimId b) {
  const auto [low, high] = std::minmax({a.index, b.index});
  return uint64_t(high) << 32 | low;
}

DimId DimStore::add(DimId a, DimId b) {
  if (auto known = sums_.find(keyOf(a, b)); known != sums_.end()) return known->second;
  return sums_[keyOf(a, b)] = sumOf(a, b);
}

DimId DimStore::sumOf(DimId a, DimId b) {
  if (isTooLarge(a) || isTooLarge(b)) return tooLarge();
  std::vector<DimTerm> terms = dims_[a];
  terms.insert(terms.end(), dims_[b].begin(), dims_[b].end());
  return normal(std::move(terms));
}

DimId DimStore::sub(DimId a, DimId b) { return add(a, mul(b, constant(-1))); }

DimId DimStore::mul(DimId a, DimId b) {
  if (auto known = products_.find(keyOf(a, b)); known != products_.end()) return known->second;
  return products_[keyOf(a, b)] = productOf(a, b);
}

DimId DimStore::productOf(DimId a, DimId b) {
  if (isTooLarge(a) || isTooLarge(b)) return tooLarge();
  std::vector<DimTerm> terms;
  for (const DimTerm& x : dims_[a]) {
    for (const DimTerm& y : dims_[b]) {
      DimTerm t{0, x.factors};
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &t.coefficient)) return tooLarge();
      t.factors.insert(t.factors.end(), y.factors.begin(), y.factors.end());
      std::sort(t.factors.begin(), t.factors.end());
      terms.push_back(std::move(t));
    }
  }
  return normal(std::move(terms));
}

DimId DimStore::product(std::span<const DimId> dims) {
  DimId all = constant(1);
  for (DimId d : dims) all = mul(all, d);
  return all;
}

// Rule 23: under `/ c` the multiples of c in every coefficient leave the division.
DimId DimStore::floorDiv(DimId a, DimId b) {
  if (isTooLarge(a) || isTooLarge(b)) return tooLarge();
  std::optional<int64_t> c = asConstant(b);
  std::optional<int64_t> value = asConstant(a);
  if (c && *c != 0) {
    if (value) {
      std::optional<int64_t> q = floorDivide(*value, *c);
      return q ? constant(*q) : tooLarge();
    }
    if (*c == 1) return a;
    if (*c > 1) {
      std::vector<DimTerm> whole, rest;
      for (const DimTerm& t : dims_[a]) {
        const Split k = splitBy(t.coefficient, *c);
        if (k.whole != 0) whole.push_back(DimTerm{k.whole, t.factors});
        if (k.rest != 0) rest.push_back(DimTerm{k.rest, t.factors});
      }
      DimId outside = normal(std::move(whole));
      if (rest.empty()) return outside;
      DimId inside = normal(std::move(rest));
      if (std::optional<int64_t> r = asConstant(inside)) return add(outside, constant(*floorDivide(*r, *c)));
      return add(outside, ofAtom(DimAtom{DimAtomKind::FloorDiv, {}, {inside, b}}));
    }
  }
  return ofAtom(DimAtom{DimAtomKind::FloorDiv, {}, {a, b}});
}

DimId DimStore::mod(DimId a, DimId b) {
  if (isTooLarge(a) || isTooLarge(b)) return tooLarge();
  std::optional<int64_t> c = asConstant(b);
  std::optional<int64_t> value = asConstant(a);
  if (c && *c != 0) {
    if (value) return constant(floorModulo(*value, *c));
    if (*c == 1) return constant(0);
    if (*c > 1) {
      std::vector<DimTerm> rest;
      for (const DimTerm& t : dims_[a])
        if (int64_t r = splitBy(t.coefficient, *c).rest) rest.push_back(DimTerm{r, t.factors});
      DimId inside = normal(std::move(rest));
      if (std::optional<int64_t> r = asConstant(inside)) return constant(floorModulo(*r, *c));
      return ofAtom(DimAtom{DimAtomKind::Mod, {}, {inside, b}});
    }
  }
  return ofAtom(DimAtom{DimAtomKind::Mod, {}, {a, b}});
}

DimId DimStore::extremum(DimAtomKind kind, DimId a, DimId b) {
  if (isTooLarge(a) || isTooLarge(b)) return tooLarge();
  std::vector<DimId> args;
  std::optional<int64_t> known;
  auto take = [&](DimId d) {
    std::optional<int64_t> value = asConstant(d);
    if (!value)
      args.push_back(d);
    else if (!known)
      known = value;
    else
      known = kind == DimAtomKind::Min ? std::min(*known, *value) : std::max(*known, *value);
  };
  for (DimId d : {a, b}) {
    const std::vector<DimTerm>& t = dims_[d];
    bool nested = t.size() == 1 && t[0].coefficient == 1 && t[0].factors.size() == 1 &&
                  atoms_[t[0].factors[0]].kind == kind;
    if (!nested) {
      take(d);
      continue;
    }
    for (DimId inner : atoms_[t[0].factors[0]].args) take(inner);
  }
  if (known) args.push_back(constant(*known));
  std::sort(args.begin(), args.end());
  args.erase(std::unique(args.begin(), args.end()), args.end());
  if (args.size() == 1) return args[0];
  return ofAtom(DimAtom{kind, {}, std::move(args)});
}

DimId DimStore::min(DimId a, DimId b) { return extremum(DimAtomKind::Min, a, b); }
DimId DimStore::max(DimId a, DimId b) { return extremum(DimAtomKind::Max, a, b); }

std::optional<int64_t> DimStore::asConstant(DimId d) const {
  const std::vector<DimTerm>& t = dims_[d];
  if (t.empty()) return 0;
  if (t.size() == 1 && t[0].factors.empty()) return t[0].coefficient;
  return std::nullopt;
}

std::optional<DimSym> DimStore::asSymbol(DimId d) const {
  const std::vector<DimTerm>& t = dims_[d];
  if (t.size() != 1 || t[0].coefficient != 1 || t[0].factors.size() != 1) return std::nullopt;
  const DimAtom& a = atoms_[t[0].factors[0]];
  if (a.kind != DimAtomKind::Symbol) return std::nullopt;
  return a.symbol;
}

DimId DimStore::substituteAtom(DimAtomId id, const DimSubst& subst) {
  const DimAtom& a = atoms_[id];
  if (a.kind == DimAtomKind::Symbol) {
    auto it = subst.find(a.symbol);
    return it == subst.end() ? symbol(a.symbol) : it->second;
  }
  if (a.kind == DimAtomKind::TooLarge) return tooLarge();
  std::vector<DimId> args;
  for (DimId d : a.args) args.push_back(substitute(d, subst));
  switch (a.kind) {
  case DimAtomKind::FloorDiv: return floorDiv(args[0], args[1]);
  case DimAtomKind::Mod: return mod(args[0], args[1]);
  default: break;
  }
  DimId all = args[0];
  for (size_t i = 1; i < args.size(); ++i) all = extremum(a.kind, all, args[i]);
  return all;
}

DimId DimStore::substitute(DimId d, const DimSubst& subst) {
  if (subst.empty() || asConstant(d)) return d;
  if (const std::optional<DimSym> only = asSymbol(d)) {
    const auto now = subst.find(*only);
    return now == subst.end() ? d : now->second;
  }
  DimId all = constant(0);
  bool changed = false;
  for (const DimTerm& t : dims_[d]) {
    DimId product = constant(t.coefficient);
    for (DimAtomId factor : t.factors) {
      DimId now = substituteAtom(factor, subst);
      changed |= now != intern({DimTerm{1, {factor}}});
      product = mul(product, now);
    }
    all = add(all, product);
  }
  return changed ? all : d;
}

void DimStore::collectSymbols(DimId d, std::vector<DimSym>& out) const {
  for (const DimTerm& t : dims_[d]) {
    for (DimAtomId id : t.factors) {
      const DimAtom& a = atoms_[id];
      if (a.kind == DimAtomKind::Symbol && std::find(out.begin(), out.end(), a.symbol) == out.end())
        out.push_back(a.symbol);
      for (DimId inner : a.args) collectSymbols(inner, out);
    }
  }
}

bool DimStore::mentions(DimId d, DimSym s) const {
  std::vector<DimSym> syms;
  collectSymbols(d, syms);
  return std::find(syms.begin(), syms.end(), s) != syms.end();
}

bool DimStore::mentionsKind(DimId d, DimSymKind kind) const {
  std::vector<DimSym> syms;
  collectSymbols(d, syms);
  return std::any_of(syms.begin(), syms.end(), [&](DimSym s) { return syms_[s].kind == kind; });
}

bool DimStore::hasOpaqueAtom(DimId d) const {
  for (const DimTerm& t : dims_[d])
    for (DimAtomId id : t.factors)
      if (atoms_[id].kind != DimAtomKind::Symbol) return true;
  return false;
}

bool DimStore::atLeast(DimId d, int64_t bound) const { return DimFacts(*this).of(d).low >= bound; }

// --- evaluation
// ---------------------------------------------------------------------------------------------------

std::optional<int64_t> DimStore::evaluateAtom(DimAtomId id,
                                              const std::unordered_map<DimSym, int64_t>& values) const {
  const DimAtom& a = atoms_[id];
  if (a.kind == DimAtomKind::Symbol) {
    auto it = values.find(a.symbol);
    if (it == values.end()) return std::nullopt;
    return it->second;
  }
  std::vector<int64_t> args;
  for (DimId d : a.args) {
    std::optional<int64_t> v = evaluate(d, values);
    if (!v) return std::nullopt;
    args.push_back(*v);
  }
  switch (a.kind) {
  case DimAtomKind::Min: return *std::min_element(args.begin(), args.end());
  case DimAtomKind::Max: return *std::max_element(args.begin(), args.end());
  case DimAtomKind::TooLarge: return std::nullopt;
  default: break;
  }
  if (args[1] == 0) return std::nullopt;
  return a.kind == DimAtomKind::FloorDiv ? floorDivide(args[0], args[1])
                                         : std::optional(floorModulo(args[0], args[1]));
}

std::optional<int64_t> DimStore::evaluate(DimId d, const std::unordered_map<DimSym, int64_t>& values) const {
  int64_t sum = 0;
  for (const DimTerm& t : dims_[d]) {
    int64_t product = 1; // the coefficient last, as in compiled code
    for (DimAtomId id : t.factors) {
      std::optional<int64_t> v = evaluateAtom(id, values);
      if (!v || __builtin_mul_overflow(product, *v, &product)) return std::nullopt;
    }
    if (__builtin_mul_overflow(product, t.coefficient, &product)) return std::nullopt;
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

} // namespace melix::types
