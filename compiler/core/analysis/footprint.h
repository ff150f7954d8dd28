#pragma once
// Computes footprints: the elements that a term reads, and the axes that each of these operands varies with.
//
//   %v = get %x[%i, %k]   %b = get %bin[%k]   %u = get %w[%b]   %p = mul %v, %u   yield %p
//   %v: axes i k, indices {i} {k};   %u: axes k, index {k};   %b only feeds an index: it belongs to %u
//
// An access is a `get` of one element, made anywhere in the body for the term: in arms, loops and nests
// inside as well. Values from outside the body are constants to it.

#include "core/analysis/access.h"
#include "core/ir/analyses.h"
#include "support/function_ref.h"

#include <algorithm>
#include <array>
#include <vector>

namespace melix::core {

using Axes = std::set<ValueId>;

/// By operand of a term, in the order of the text, the axes that it varies with.
struct Footprint {
  std::vector<Axes> operands;

  /// Of these axes alone.
  Footprint within(const Axes& axes) const;
  /// Whether the term is a contraction's: it combines two operands, as products and distances do, each of
  /// which varies with an axis that the other does not vary with.
  bool hasTwoSides() const;
  /// Visits the sides of each such pair, in the order of the text: the axes of one operand with which the
  /// other does not vary.
  void forEachPair(FunctionRef<void(const Axes& one, const Axes& other)> visit) const;
};

struct TermAccess {
  OpId get;
  /// By index, in order: the axes it varies with, through data too.
  std::vector<Axes> indices;
  /// The axes of all indices, and the axes that the array varies with.
  Axes axes;
};

class Footprints {
public:
  /// Of a function, or of one nest: then values from outside of it vary with nothing.
  Footprints(const Module& m, FunctionId f);
  Footprints(const Module& m, const Function& f, OpId nest);

  /// The accesses of a value of the body of a nest, in the order of the text.
  std::vector<TermAccess> accesses(OpId nest, ValueId term) const;
  Footprint of(OpId nest, ValueId term) const;

private:
  TermAccess access(OpId get) const;
  /// The operands that are no indices.
  static std::span<const ValueId> readOperands(const Op& op);
  void number(OpId id, uint32_t& next);

  struct Span {
    uint32_t position, end; ///< in the text; the end of the op's regions
  };
  const Module& m_;
  const Function& f_;
  std::shared_ptr<const AccessInfo> info_;
  std::unordered_map<OpId, Span> spans_;
};

struct SumInNest {
  /// Of the operands that vary with a reduced axis, in the axes of the nests around that the sum keeps.
  Footprint kept;
  Axes reduced;
  OpId part; ///< the op of the nest's own body in which the sum is; none if the nest itself is the sum
  OpId sum;  ///< the nest that sums
};
/// Visits the sums at a nest and inside of it, from the outside in.
void forEachSum(const Module& m, const Function& f, OpId nest, FunctionRef<void(const SumInNest&)> visit);

/// The products in a nest. Of each the axes of the nest, by their numbers as bits, that vary one operand and
/// not the other.
struct Sides {
  using Product = std::array<uint64_t, 2>;
  std::vector<Product> products; ///< each once

  void add(const Product& product) {
    if (product != Product{} && std::ranges::find(products, product) == products.end())
      products.push_back(product);
  }
  uint64_t axes(size_t side) const {
    uint64_t out = 0;
    for (const Product& product : products) out |= product[side];
    return out;
  }
  bool areTwo() const { return axes(0) != 0 && axes(1) != 0; }
  uint64_t all() const { return axes(0) | axes(1); }
};
Sides sidesOf(const Module& m, const Function& f, OpId nest);

} // namespace melix::core
