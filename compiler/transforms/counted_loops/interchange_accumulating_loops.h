#pragma once
// A counted loop that only adds to the elements of an array is a loop at each element, where the array is a
// product of two sides.
//
//   before:  %r = for %n, %c { (%k, %x)
//              %s = nest (%i: N, %j: M) -> collect[i, j] {
//                %e = get %x[%i, %j]   %p = mul (get %a[%i, %k]), (get %b[%k, %j])   yield add %e, %p }
//              yield %s }
//   after:   %r = nest (%i: N, %j: M) -> collect[i, j] {
//              %e = get %c[%i, %j]
//              %s = for %n, %e { (%k, %x)   %p = mul (get %a[%i, %k]), (get %b[%k, %j])   yield add %x, %p }
//              yield %s }
//
// It may add to a part of the array that is the same in all turns: a `set` of it follows. What else the loop
// does stays in front, so nests that add have no effect. Two reads have to vary with axes, or with indices
// around the loop, that the other does not vary with: each row of a side serves many elements. Requires:
// verified Core without derivatives. Keeps: bits, every effect: each element has its terms in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool sinkLoops(core::Module& module);

} // namespace melix::transforms
