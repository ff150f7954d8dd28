#pragma once
// The order in which float sums and products of nests are computed. It is part of the meaning: interpreter
// and compiled code obey it bit for bit, whatever the schedule, the vectors and the threads.
//
// Axes are the axes of the nest and of the nests around it in the same function; indices of loops are none.
// An axis that the result does not reduce is *kept*. The accesses are the accesses of the term
// (footprint.h).
//
// The order is chosen by these cases:
//   a. No kept axis exists: lanes.
//   b. There are two accesses neither of whose sets of kept axes holds the other (products, distances):
//      chain. Axes of nests around a loop, a nest that adds into accumulators, or one of several nests of a
//      point that keeps axes of its own, in which the sum stands do not count: their points are not computed
//      side by side. Kept axes, but no accesses: chain.
//   c. The term holds a sum of products. One operand varies with a kept axis of no literal extent < 16, the
//      other with a reduced axis, which its last index does not vary with: chain, as tiles compute the terms.
//   d. Among the accesses with most axes: if the last index of one varies with a kept axis, chain; but where
//      it varies with a reduced axis too, a kept axis of literal extent < 16 does not count (gradients of
//      filters). Else, if the last index of one varies with a reduced axis, lanes. Else chain.
//
// The row axis of lanes. The *deciding access* is the last in the text of those with most axes; in case d of
// those whose last index varies with a reduced axis. The row axis is the reduced axis in its last index that
// varies with one, of several the last in nest order; where there is none, the last reduced axis. One of
// literal extent < 16 gives way to a reduced axis that is not, looked for from the access's last index
// backwards; if there is none, it stays. A nest that prints (`debug`) or adds into accumulators has the last
// reduced axis, so that it does both in the order of its points and each term is computed there, once. There
// are 64 lanes for f32 and narrower, 32 for f64.
//
// The sequence of the terms is row-major over the reduced axes in nest order, except that the row axis comes
// last. The row axis of a chain is the last reduced axis. A row is all of the row axis at one position of the
// others. The sequence is cut into blocks of as many whole rows as have at most 8,192 terms together, across
// the ends of the other axes. A row longer than that is cut into blocks of 8,192 terms, with the rest of it
// at its end.
//
// In a block, from +0 (a product: 1):
//   chain   one term after another joins.
//   lanes   the lane of a term is its index on the row axis modulo the number of lanes; in each lane one term
//           after another joins. Then half of the lanes are left at a time: lane l joined by lane l + half.
//           At last + 0 (a product: × 1), so that lanes which no term reached change nothing and need not be
//           there.
// The first block is the result, and the others join it one after another. Without a term it is +0 (1).
//
// Integers, `min`, `max` are exact and have no order. Sums of arrays, records and other tangents go leaf by
// leaf, combinations from the left, accumulators and scans in index order, all without blocks. Without an
// order the sequence is row-major in nest order, one chain from the unit.

#include "core/ir/monoid.h"

namespace melix::core {

/// Terms in a block, at most.
inline constexpr int64_t blockTerms = 8192;

/// Whole rows in a block; of rows longer than a block that is one.
constexpr int64_t rowsInBlock(int64_t row) { return row > 0 && row < blockTerms ? blockTerms / row : 1; }

/// Whether terms of a kind are reduced in blocks.
inline bool isOrdered(MonoidKind monoid, OrderKind order, TypeKind kind) {
  return infoOf(monoid).op && isRounded(monoid, kind) && order != OrderKind::Unset;
}

/// The reduced axes of a result in the sequence of its terms: the row axis of lanes is the last one.
std::vector<uint32_t> termSequence(const NestResult& r, uint32_t axes);

/// Sets the order of every float sum and product that has none and reduces an axis.
void chooseOrders(Module& m);

} // namespace melix::core
