#pragma once
// Neighbouring axes that read whole arrays together are one axis.
//
//   before:  %s = nest (%i: N, %j: M) -> keep[] sum { %a = get %x[%i, %j]   yield %a }
//   after:   %y = reshape %x : f32[N*M]
//            %s = nest (%ij: N*M) -> keep[] sum { %a = get %y[%ij]   yield %a }
//
// Two axes that follow each other in the nest and that every result reduces, where they are used for nothing
// but the indices of reads: in this order, one behind the other, along axes of just their extents, of an
// array that comes from outside of the nest. The points stay in their order. Requires: verified Core, orders
// not chosen (core/order/order.h), which are then those of the longer rows. Keeps: every effect, in order.

#include "core/ir/ir.h"

namespace melix::transforms {

void collapseAxes(core::Module& module);

} // namespace melix::transforms
