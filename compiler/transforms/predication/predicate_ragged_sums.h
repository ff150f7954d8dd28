#pragma once
// Predicates a ragged sum of terms of two operands, as products are: a range that begins or ends with an
// enclosing axis becomes rectangular. All points then have the same number of terms, so the sum can be tiled.
//
//   before:  nest (i: N, j: M) -> collect[i, j] {
//              bind_dim %i defines [i]
//              %s = nest (%l: N - i) -> keep[] sum {
//                %k = add %l, %i   … get %a[%i, %k] … get %b[%k, %j] … }  yield %s }
//   after:   nest (i: N, j: M) -> collect[i, j] {
//              %s = nest (%k: N) -> keep[] sum {
//                %m = cmp ge %k, %i
//                %t = if %m { … get %a[%i, %k] … get %b[%k, %j] … } { yield 0 }   yield %t }  yield %s }
//
// A loop that adds to a float is such a sum too, in the order of its iterations. An iteration that the
// predicate leaves out yields the sum as it was:
//
//   before:  %s = for (N - i), %zero { (%l, %t)  %k = add %l, %i   … %u = add %t, %p   yield %u }
//   after:   %s = for N, %zero { (%k, %t)  %m = cmp ge %k, %i   %w = if %m { … yield %u } { yield %t }  yield
//   %w }
//
// Ends are sums of axes, sizes and constants, or the least or greatest of several such sums. The loops leave
// out the masked terms again (triangular_reduction.h) where tiles take the sum. Without tiles all terms are
// computed. The last axis of the enclosing nest is the columns; nests that are known to have one or two
// columns stay. So the pass applies only to sums that tiles take, over ranges that are no small part of the
// extent:
// 1. A term is cheap arithmetic on float elements, all in range over the whole extent. Two of them each vary
//    with an axis that the other does not vary with (core/order/order.h, b).
// 2. One end depends on axes. The range goes from about the other end to about the end of the extent. Not
//    both ends depend on axes, as those of a band do, where each row has few terms.
// 3. The end depends on more than the last axis. The last axis is the columns, and each lane would have an
//    end of its own.
//
// The pass also applies to nests of columns that lanes take side by side, each with two ends of its own, as
// in full convolutions `%x[%i] * %y[%k - %i]` by %k:
// 1. The ends depend on the last axis alone.
// 2. At least one element of the term is contiguous along it. The others are uniform or contiguous too.
// 3. The ranges begin at several places.
// 4. The ends are not known to be only few terms from each other.
// Lanes then take some of the iterations together (loops/index_sets/trim_vector_reduction.h).
//
// Sums over rows that are as long as the range stay: the points do not share such rows. Sums in branches and
// loops of a nest's body stay too, as few points may run them.
//
// Requires: verified Core, orders not chosen. Keeps: values; bits but for the order of sums.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any sum changed.
bool predicateRaggedSums(core::Module& module);

} // namespace melix::transforms
