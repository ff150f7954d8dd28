#pragma once
// Coalesces neighbouring axes that read whole arrays together into one axis.
//
//   before:  %s = nest (%i: N, %j: M) -> keep[] sum { %a = get %x[%i, %j]   yield %a }
//   after:   %y = reshape %x : f32[N*M]
//            %s = nest (%ij: N*M) -> keep[] sum { %a = get %y[%ij]   yield %a }
//
// Conditions on two axes that follow each other in the nest:
// 1. Every result reduces both.
// 2. They are used only as indices of reads, in this order, one directly after the other.
// 3. The axes of the array have just their extents.
// 4. The array comes from outside of the nest.
// The points stay in their order. Requires: verified Core, orders not chosen (core/order/order.h); later
// chosen orders are of the longer rows. Keeps: every effect, in order.

#include "core/ir/ir.h"

namespace melix::transforms {

void coalesceAxes(core::Module& module);

} // namespace melix::transforms
