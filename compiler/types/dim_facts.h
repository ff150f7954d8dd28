#pragma once
// Exact intervals of dimensions, from the bounds of their symbols and from facts about them that hold in a
// part of a program.
//
// Nothing wraps: intervals are computed with 128 bits, and values outside of 128 bits are infinite.

#include "types/dims.h"

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
  size_t mark() const { return trail_.size(); }
  void undo(size_t mark);

private:
  using Product = std::vector<DimAtomId>;
  struct Bound {
    std::optional<Wide> low, high;
  };

  Interval ofSum(DimId d) const;
  Interval aroundQuotient(const std::vector<DimTerm>& terms, size_t at) const;
  Interval ofAtom(DimAtomId id) const;
  Interval ofQuotient(const DimAtom& a) const;
  Interval ofExtremum(const DimAtom& a) const;
  Interval ofProduct(const Product& factors) const;
  /// An upper bound of a product of atoms none of which is negative.
  Wide mostOf(const Product& factors) const;
  bool argumentsAreExact(DimId d) const;
  void learn(const Product& factors, std::optional<Wide> low, std::optional<Wide> high);
  void learnInside(const DimAtom& a, std::optional<Wide> low, std::optional<Wide> high);

  const DimStore& dims_;
  std::map<Product, Bound> bounds_;
  std::vector<std::pair<Product, Bound>> trail_; ///< the bound before each change
};

} // namespace melix::types
