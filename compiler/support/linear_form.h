#pragma once
// Linear forms: sums of multiples of terms.
//
//   %a = mul %i, 4   %b = sub %a, %n   %c = add %b, 3        %c is 4·%i - %n + 3
//
// Factors and constants are numbers modulo 2^64, as the i64 that a program computes wraps. So a form
// determines its value, and equal forms are equal values. It says something about order and bounds only where
// the sum does not wrap (`isSmall`).

#include "support/wrapping.h"

#include <cassert>
#include <map>

namespace melix {

/// Values of terms below this limit are small: sizes, indices, and offsets between them.
inline constexpr int64_t smallNumber = int64_t(1) << 48;

/// Σ factor · term; no factor is 0.
template <class Term>
struct LinearTerms : std::map<Term, int64_t> {
  using std::map<Term, int64_t>::map;

  int64_t factorOf(Term term) const {
    const auto at = this->find(term);
    return at == this->end() ? 0 : at->second;
  }
  void add(Term term, int64_t factor) {
    const auto at = this->try_emplace(term, 0).first;
    if ((at->second = wrappingSum(at->second, factor)) == 0) this->erase(at);
  }
  /// Adds factor · x.
  void add(const LinearTerms& x, int64_t factor) {
    assert(&x != this);
    for (auto [term, by] : x) add(term, wrappingProduct(factor, by));
  }
  /// The sum of the absolute values of the factors, if that is at most `most`; `most` + 1 otherwise.
  int64_t weight(int64_t most) const {
    int64_t sum = 0;
    for (auto [term, by] : *this) {
      if (by > most || by < -most) return most + 1;
      sum += by < 0 ? -by : by;
      if (sum > most) return most + 1;
    }
    return sum;
  }
};

/// The largest weight of a small form: its sum is below 2^61 where all terms are small.
inline constexpr int64_t largestWeight = 1 << 12;
inline bool isSmallConstant(int64_t constant) {
  return constant <= smallNumber * largestWeight && constant >= -smallNumber * largestWeight;
}

/// Σ factor · term + constant.
template <class Term>
struct LinearForm {
  LinearTerms<Term> terms;
  int64_t constant = 0;

  /// Adds factor · x.
  void add(const LinearForm& x, int64_t factor) {
    terms.add(x.terms, factor);
    constant = wrappingSum(constant, wrappingProduct(factor, x.constant));
  }
  bool isConstant() const { return terms.empty(); }
  int64_t factorOf(Term term) const { return terms.factorOf(term); }
  bool operator==(const LinearForm&) const = default;
};

/// Whether the form does not wrap where the values of its terms are small.
template <class Term>
bool isSmall(const LinearForm<Term>& form) {
  return isSmallConstant(form.constant) && form.terms.weight(largestWeight) <= largestWeight;
}

} // namespace melix
