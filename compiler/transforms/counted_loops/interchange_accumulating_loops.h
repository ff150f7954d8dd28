#pragma once
// Interchanges a counted loop that only adds to the elements of an array with the nest over these elements.
// The added array has to be a product of two operands.
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
// The loop may add to a part of the array that is the same in all iterations: a `set` of it follows. The rest
// of the loop stays, before the new nest, so the adding nests have to be free of effects. Two reads have to
// vary each with axes, or with indices around the loop, that the other does not vary with. Each row of an
// operand then serves many elements. Requires: verified Core, sums without an order. Keeps: bits, every
// effect: each element has its terms in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool interchangeAccumulatingLoops(core::Module& module);

} // namespace melix::transforms
