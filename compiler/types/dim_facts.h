#pragma once
// Exact intervals of dimensions, from the bounds of their symbols and from facts about them that hold in a
// part of a program.
//
// Nothing wraps: intervals are computed with 128 bits, and values outside of 128 bits are infinite.

#include "types/dims.h"

#include <algorithm>

namespace melix::types {

/// Facts are taken back in the reverse order of how they were assumed: mark() where a part begins, undo() at
/// its end.
class DimFacts {
public:
  using Wide = __int128;
  static constexpr Wide infinite = Wide(1) << 100;
  struct Interval {
    Wide low = -infinite, high = infinite;
  };

  explicit DimFacts(const DimStore& dims) : dims_(dims) {}

  Interval of(DimId d) const;
  bool atLeast(DimId d, Wide bound) const { return of(d).low >= bound; }
  bool atMost(DimId d, Wide bound) const { return of(d).high <= bound; }
  /// Whether its value computed with 64 bits that wrap is its exact value.
  bool isExact(DimId d) const;

  /// Bounds that hold from here on. A bound of a dimension is recorded as bounds of its products and symbols
  /// one by one.
  void assumeAtLeast(DimId d, Wide bound);
  void assumeAtMost(DimId d, Wide bound);
  /// Whether the same is known.
  bool operator==(const DimFacts& o) const { return atoms_ == o.atoms_ && products_ == o.products_; }
  size_t mark() const { return trail_.size(); }
  void undo(size_t mark);

private:
  using Product = std::vector<DimAtomId>;
  using Factors = std::span<const DimAtomId>; ///< of a product
  struct Bound {
    std::optional<Wide> low, high;
    bool operator==(const Bound&) const = default;
    Interval within(Interval all) const;
  };
  struct ByFactors {
    using is_transparent = void;
    bool operator()(Factors a, Factors b) const { return std::ranges::lexicographical_compare(a, b); }
  };
  /// A bound before it changed: of a product of several factors, or of an atom.
  struct Change {
    Product product;
    DimAtomId atom;
    Bound before;
  };

  Interval ofSum(DimId d) const;
  Interval aroundQuotient(const std::vector<DimTerm>& terms, size_t at) const;
  Interval ofAtom(DimAtomId id) const;
  Interval ofQuotient(const DimAtom& a) const;
  Interval ofExtremum(const DimAtom& a) const;
  Interval ofProduct(Factors factors) const;
  Interval ofTerm(const DimTerm& term) const;
  Wide mostOf(Factors factors) const;
  const Bound* boundOf(Factors factors) const;
  bool argumentsAreExact(DimId d) const;
  void learn(const Product& factors, std::optional<Wide> low, std::optional<Wide> high);
  void learnInside(const DimAtom& a, std::optional<Wide> low, std::optional<Wide> high);

  const DimStore& dims_;
  std::unordered_map<DimAtomId, Bound> atoms_;
  std::map<Product, Bound, ByFactors> products_; ///< of several factors
  std::vector<Change> trail_;
};

} // namespace melix::types
