#pragma once
// Delinearises an axis that is divided by a size: if its extent is a multiple of the size, it becomes two
// axes.
//
//   before:  %o = nest (t: T, d: H*E) -> collect[t, d] { nest (u: U) -> keep[] sum {
//              %h = idiv %d, E   %p = get %x[%h, %t, %u]   %v = get %y[%u, %d] … } }
//   after:   %r = nest (t: T, h: H, e: E) -> collect[t, h, e] { nest (u: U) -> keep[] sum {
//              %p = get %x[%h, %t, %u]   %d = h * E + e   %v = get %y[%u, %d] … } }
//            %o = reshape %r
//
// Quotients and remainders by the size are the new axes. Quotients and remainders by multiples of it become
// quotients and remainders of the first axis, which may be divided again. Applies only if this exposes
// products (divided_axes.h). Requires: verified Core, orders not chosen. Keeps: bits and effects; the points
// stay in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any axis was split.
bool delineariseAxes(core::Module& module);

} // namespace melix::transforms
