#pragma once
// Sums over a range that ends or begins with an axis around, of what two sides tell, are sums under a mask:
// of as many terms at all points, which tiles take together.
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
// Ends are sums of axes, sizes and constants, or the least or greatest of such. Loops leave out again what
// the mask does (triangular_reduction.h) where tiles take the sum, and all terms are gone through where none
// does. So it is done only of what tiles take, and where the range is no small part of the extent:
// - a term is the product of two elements, floats, each of which varies with an axis that the other does not
//   (core/order/order.h, b), and both are in range over all of the extent;
// - one of the ends tells axes, and goes from about where the other is to about where the extent ends: not
//   both, as those of a band do, of which each row has few terms;
// - it is not the last axis alone that tells it, the columns, each of which would have an end of its own in
//   its lane; and there are not known to be one or two of these.
// Else of what columns in lanes take side by side, each of which has both ends of its own, as full
// convolutions
// `%x[%i] * %y[%k - %i]` by %k are: the last axis alone tells the ends, one element of the product lies side
// by side along it or both do, the other is the same for all, they begin at several places, and the ends are
// not known to be few terms apart. Lanes take the turns of some of them together then
// (loops/index_sets/trim_vector_reduction.h).
//
// Rows that are as long as the range are none that all points have, so sums over them stay; so do those in
// branches and loops of a nest's body, which few points may run.
//
// Requires: verified Core, orders not chosen. Keeps: values; bits but for the order of sums.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool maskRanges(core::Module& module);

} // namespace melix::transforms
