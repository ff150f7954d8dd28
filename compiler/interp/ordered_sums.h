#pragma once
// Internal: float sums and products in their order (core/order/order.h), of all elements of one result of a
// nest.

#include "interp/nest.h"

#include <span>

namespace melix::interp {

/// A term that joins a sum: a value, or the two factors of a fused term.
struct SumTerm {
  Slot a{0}, b{0};
};

class OrderedSums {
public:
  /// `extents` are the extents of all axes; there are `sums` elements.
  OrderedSums(const NestResultExtra& x, size_t sums, std::span<const int64_t> extents);

  /// The term of the point `index` joins one of the sums. For each, points come row-major.
  void add(size_t sum, SumTerm term, std::span<const int64_t> index);
  /// Returns one of the sums and restarts it.
  Slot take(size_t sum);

private:
  struct Sum {
    Slot total{0}, block{0};
    int64_t pieces = 0; ///< rows in the block, or parts of a long row
    bool any = false;   ///< whether a block is in the total
  };
  Slot combined(Slot a, Slot b) const { return Slot{x_.scalar.combine(a.u, b.u, 0)}; }
  /// The next term in sequence, `k` on the row axis.
  void join(size_t sum, int64_t k, SumTerm term);
  void closeBlock(size_t sum);
  Slot foldLanes(Slot* lanes) const;

  const NestResultExtra& x_;
  std::vector<int64_t> extents_; ///< of the reduced axes, as their terms follow each other: the row's is last
  std::vector<uint32_t> sequence_; ///< those axes
  size_t lanes_ = 0;               ///< that terms reach; none of a chain
  bool inSequence_;                ///< points come as the terms follow each other; else terms wait
  std::vector<Sum> sums_;
  std::vector<Slot> partial_;    ///< the lanes of each sum
  std::vector<SumTerm> waiting_; ///< all terms of each sum
};

} // namespace melix::interp
