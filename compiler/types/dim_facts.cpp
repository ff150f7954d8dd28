#include "types/dim_facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>

namespace melix::types {

namespace {

using Wide = DimFacts::Wide;
using Interval = DimFacts::Interval;
constexpr Wide infinite = DimFacts::infinite;

/// Of a positive number.
unsigned bitsOf(Wide a) {
  const auto high = static_cast<uint64_t>(a >> 64), low = static_cast<uint64_t>(a);
  return high ? 64 + unsigned(std::bit_width(high)) : unsigned(std::bit_width(low));
}

/// A product has as many bits as its factors, or one less: only where that does not tell, to divide does.
Wide times(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  bool negative = (a < 0) != (b < 0);
  Wide x = a < 0 ? -a : a, y = b < 0 ? -b : b;
  const unsigned bits = bitsOf(x) + bitsOf(y), most = bitsOf(infinite);
  const bool isTooLarge = bits > most + 1 || (bits >= most && x > infinite / y);
  Wide r = isTooLarge ? infinite : x * y;
  return negative ? -r : r;
}

Interval times(Interval a, Interval b) {
  Wide corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

/// As a product by 1 leaves it: facts that contradict each other give ends in the other order.
Interval ordered(Interval a) { return {std::min(a.low, a.high), std::max(a.low, a.high)}; }

Interval plus(Interval a, Interval b) {
  Interval sum;
  if (a.low > -infinite && b.low > -infinite) sum.low = std::clamp(a.low + b.low, -infinite, infinite);
  if (a.high < infinite && b.high < infinite) sum.high = std::clamp(a.high + b.high, -infinite, infinite);
  return sum;
}

/// ⌊a / c⌋ of a positive c; what is infinite stays so.
Wide floorOf(Wide a, Wide c) {
  if (a <= -infinite || a >= infinite) return a;
  Wide q = a / c;
  return a % c != 0 && a < 0 ? q - 1 : q;
}

} // namespace

// --- intervals

Interval DimFacts::of(DimId d) const {
  Interval all = ofSum(d);
  const std::vector<DimTerm>& terms = dims_.terms(d);
  for (size_t k = 0; k < terms.size() && terms.size() > 1; ++k) {
    const Interval other = aroundQuotient(terms, k);
    all = {std::max(all.low, other.low), std::min(all.high, other.high)};
  }
  return all;
}

/// A sum with k · (x / c) in it by the sum of what is under the division and what is beside it, where the
/// same products meet: c times the sum is c times the others and k · x - k · (x % c).
Interval DimFacts::aroundQuotient(const std::vector<DimTerm>& terms, size_t at) const {
  const DimTerm& term = terms[at];
  if (term.factors.size() != 1) return {};
  const DimAtom& quotient = dims_.atom(term.factors[0]);
  if (quotient.kind != DimAtomKind::FloorDiv || dims_.hasOpaqueAtom(quotient.args[0])) return {};
  const Wide c = dims_.asConstant(quotient.args[1]).value_or(0);
  if (c <= 0) return {};
  std::map<Product, Wide> scaled;
  for (size_t k = 0; k < terms.size(); ++k)
    if (k != at) scaled[terms[k].factors] += times(terms[k].coefficient, c);
  for (const DimTerm& t : dims_.terms(quotient.args[0]))
    scaled[t.factors] += times(term.coefficient, t.coefficient);
  const Wide taken = times(term.coefficient, c - 1);
  Interval sum{std::min<Wide>(-taken, 0), std::max<Wide>(-taken, 0)};
  for (const auto& [factors, k] : scaled) {
    if (k <= -infinite || k >= infinite) return {};
    sum = plus(sum, times({k, k}, ofProduct(factors)));
  }
  return {-floorOf(-sum.low, c), floorOf(sum.high, c)};
}

Interval DimFacts::ofSum(DimId d) const {
  Interval sum{0, 0};
  for (const DimTerm& t : dims_.terms(d)) sum = plus(sum, ofTerm(t));
  return sum;
}

Interval DimFacts::ofTerm(const DimTerm& term) const {
  const Wide k = term.coefficient;
  const Interval product = ofProduct(term.factors);
  return k == 1 ? ordered(product) : times({k, k}, product);
}

Interval DimFacts::ofProduct(Factors factors) const {
  if (factors.empty()) return {1, 1};
  const Interval first = ofAtom(factors[0]);
  Interval all = ordered(first);
  bool negative = first.low < 0;
  for (DimAtomId id : factors.subspan(1)) {
    const Interval factor = ofAtom(id);
    negative |= factor.low < 0;
    all = times(all, factor);
  }
  if (!negative && factors.size() > 1) all.high = std::min(all.high, mostOf(factors));
  const Bound* known = boundOf(factors);
  return known ? known->within(all) : all;
}

Interval DimFacts::Bound::within(Interval all) const {
  return {low ? std::max(all.low, *low) : all.low, high ? std::min(all.high, *high) : all.high};
}

const DimFacts::Bound* DimFacts::boundOf(Factors factors) const {
  if (factors.size() == 1) {
    const auto known = atoms_.find(factors[0]);
    return known == atoms_.end() ? nullptr : &known->second;
  }
  const auto known = products_.find(factors);
  return known == products_.end() ? nullptr : &known->second;
}

/// An upper bound of a product of several atoms none of which is negative, from the bounds of all products of
/// some of them.
Wide DimFacts::mostOf(Factors factors) const {
  constexpr size_t longest = 6; // of longer products nothing is asked
  const Bound* whole = boundOf(factors);
  if (factors.size() > longest) return whole && whole->high ? *whole->high : infinite;
  std::array<Wide, 1 << longest> most; // by the set of factors
  for (unsigned set = 1; set < 1u << factors.size(); ++set) {
    std::array<DimAtomId, longest> chosen;
    size_t count = 0;
    for (size_t k = 0; k < factors.size(); ++k)
      if (set >> k & 1) chosen[count++] = factors[k];
    const Bound* known = boundOf({chosen.data(), count});
    most[set] = known && known->high ? *known->high : infinite;
    if (count == 1) {
      most[set] = std::min(most[set], ofAtom(chosen[0]).high);
      continue;
    }
    for (size_t k = 0; k < factors.size(); ++k)
      if (const unsigned own = 1u << k; set & own)
        most[set] = std::min(most[set], times(most[own], most[set ^ own]));
  }
  return most[(1u << factors.size()) - 1];
}

Interval DimFacts::ofAtom(DimAtomId id) const {
  const DimAtom& a = dims_.atom(id);
  switch (a.kind) {
  case DimAtomKind::Symbol: {
    const Interval all{dims_.info(a.symbol).lowerBound, INT64_MAX};
    const auto known = atoms_.find(id);
    return known == atoms_.end() ? all : known->second.within(all);
  }
  case DimAtomKind::FloorDiv:
  case DimAtomKind::Mod: return ofQuotient(a);
  case DimAtomKind::Min:
  case DimAtomKind::Max: return ofExtremum(a);
  case DimAtomKind::TooLarge: return {};
  }
  return {};
}

Interval DimFacts::ofQuotient(const DimAtom& a) const {
  Interval divisor = of(a.args[1]);
  if (divisor.low <= 0) return {};
  if (a.kind == DimAtomKind::Mod) return {0, divisor.high >= infinite ? infinite : divisor.high - 1};
  Interval value = of(a.args[0]);
  // What is divided by more comes nearer to zero, from below not beyond -1.
  Interval out{floorOf(value.low, value.low < 0 ? divisor.low : std::max<Wide>(divisor.high, 1)),
               floorOf(value.high, value.high < 0 ? divisor.high : divisor.low)};
  if (value.low >= infinite || value.low <= -infinite) out.low = value.low;
  return out;
}

Interval DimFacts::ofExtremum(const DimAtom& a) const {
  Interval all = of(a.args[0]);
  for (size_t i = 1; i < a.args.size(); ++i) {
    Interval next = of(a.args[i]);
    bool isMin = a.kind == DimAtomKind::Min;
    all.low = isMin ? std::min(all.low, next.low) : std::max(all.low, next.low);
    all.high = isMin ? std::min(all.high, next.high) : std::max(all.high, next.high);
  }
  return all;
}

/// Sums and products that wrap on the way come out right if the result fits; what is divided or compared has
/// to fit itself.
bool DimFacts::isExact(DimId d) const {
  Interval all = of(d);
  return all.low >= INT64_MIN && all.high <= INT64_MAX && argumentsAreExact(d);
}

bool DimFacts::argumentsAreExact(DimId d) const {
  for (const DimTerm& t : dims_.terms(d))
    for (DimAtomId id : t.factors) {
      const DimAtom& a = dims_.atom(id);
      if (a.kind == DimAtomKind::TooLarge) return false;
      if (!std::all_of(a.args.begin(), a.args.end(), [&](DimId arg) { return isExact(arg); })) return false;
    }
  return true;
}

// --- facts

void DimFacts::learn(const Product& factors, std::optional<Wide> low, std::optional<Wide> high) {
  if (factors.empty()) return;
  const bool isAtom = factors.size() == 1;
  Bound& known = isAtom ? atoms_[factors[0]] : products_[factors];
  bool raises = low && (!known.low || *low > *known.low),
       lowers = high && (!known.high || *high < *known.high);
  if (!raises && !lowers) return;
  trail_.push_back({isAtom ? Product() : factors, isAtom ? factors[0] : DimAtomId(), known});
  if (raises) known.low = low;
  if (lowers) known.high = high;
  if (isAtom) learnInside(dims_.atom(factors[0]), raises ? low : std::nullopt, lowers ? high : std::nullopt);
}

/// What the bounds of a quotient, or of an extremum, say of what it is of.
void DimFacts::learnInside(const DimAtom& a, std::optional<Wide> low, std::optional<Wide> high) {
  switch (a.kind) {
  case DimAtomKind::FloorDiv: {
    const std::optional<int64_t> by = dims_.asConstant(a.args[1]);
    if (!by || *by < 1) return;
    if (low && *low > -infinite / *by) assumeAtLeast(a.args[0], *low * *by);
    if (high && *high < infinite / *by - 1) assumeAtMost(a.args[0], *high * *by + (*by - 1));
    return;
  }
  case DimAtomKind::Min:
    for (DimId arg : a.args)
      if (low) assumeAtLeast(arg, *low);
    return;
  case DimAtomKind::Max:
    for (DimId arg : a.args)
      if (high) assumeAtMost(arg, *high);
    return;
  default: return;
  }
}

void DimFacts::assumeAtMost(DimId d, Wide bound) {
  if (dims_.isTooLarge(d)) return; // stands for many numbers
  const std::vector<DimTerm>& terms = dims_.terms(d);
  Interval all = ofSum(d);
  if (all.high <= bound) return;
  for (const DimTerm& t : terms) {
    // What the other terms are at least leaves so much for this one.
    const Interval own = terms.size() == 1 ? all : ofTerm(t);
    Wide others = terms.size() == 1                            ? 0
                  : own.low > -infinite && all.low > -infinite ? all.low - own.low
                                                               : -infinite;
    if (others <= -infinite) continue;
    Wide room = bound - others;
    if (t.coefficient > 0)
      learn(t.factors, std::nullopt, floorOf(room, t.coefficient));
    else
      learn(t.factors, -floorOf(room, -Wide(t.coefficient)), std::nullopt);
  }
}

void DimFacts::assumeAtLeast(DimId d, Wide bound) {
  if (dims_.isTooLarge(d)) return;
  const std::vector<DimTerm>& terms = dims_.terms(d);
  Interval all = ofSum(d);
  if (all.low >= bound) return;
  for (const DimTerm& t : terms) {
    const Interval own = terms.size() == 1 ? all : ofTerm(t);
    Wide others = terms.size() == 1                            ? 0
                  : own.high < infinite && all.high < infinite ? all.high - own.high
                                                               : infinite;
    if (others >= infinite) continue;
    Wide needed = bound - others;
    if (t.coefficient > 0)
      learn(t.factors, -floorOf(-needed, t.coefficient), std::nullopt);
    else
      learn(t.factors, std::nullopt, floorOf(-needed, -Wide(t.coefficient)));
  }
}

void DimFacts::undo(size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& last = trail_.back();
    (last.atom.valid() ? atoms_[last.atom] : products_[last.product]) = last.before;
  }
}

} // namespace melix::types
