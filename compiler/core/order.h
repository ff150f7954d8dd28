#pragma once
// The order in which float sums and products of nests are computed.
//
// The reduced terms, row-major over the reduced axes, are cut into blocks of `blockTerms`; block results are
// added in index order, the first to -0. Inside a block, from +0:
//   chain     one after another. For a contraction with both M and N axes, or when no operand of the term is
//   contiguous
//             in the innermost reduced axis (the last index of some `get` is that axis with coefficient 1).
//   lanes(w)  w interleaved partial results, combined pairwise by halves; w is 64 for f32 and narrower, 32
//   for f64.
// The order is part of the meaning: interpreter and compiled code obey it bit for bit.
//
// Note: M and N. The term's factors (of mul, neg, fma, select) each vary with some of the axes P that are not
// reduced here (kept axes and those of nests around). An axis of P in every factor is a batch axis; the
// others are joined when they share a factor. Two classes or more: M and N.

#include "core/ir.h"

namespace melix::core {

/// Terms in a block.
inline constexpr int64_t blockTerms = 8192;

/// Whether terms of a kind are reduced in blocks.
inline bool isOrdered(MonoidKind monoid, OrderKind order, TypeKind kind) {
  const bool rounds = monoid == MonoidKind::Sum || monoid == MonoidKind::Prod;
  return rounds && types::isFloatKind(kind) && order != OrderKind::Unset;
}

/// Sets the order of every float sum and product that has none. Where it has not run, all terms are one
/// chain.
void chooseOrders(Module& m);

} // namespace melix::core
