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
// Ends are sums of axes, sizes and constants, or the least or greatest of such. Only where a term has two
// accesses, each of which varies with an axis that the other does not (core/order.h, b), and has no effect.
// Ends that only the last axis tells, along which something lies side by side, stay: each lane has its own
// then, and so do sums over rows that are as long as the range. Loops leave out again what the mask does
// (loops/split_masked.h). Requires: verified Core, orders not chosen. Keeps: values; bits but for the order
// of sums.

#include "core/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool maskRanges(core::Module& module);

} // namespace melix::transforms
