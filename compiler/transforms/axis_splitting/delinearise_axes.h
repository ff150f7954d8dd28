#pragma once
// An axis that is divided by a size of which its extent is a multiple is two axes.
//
//   before:  %o = nest (t: T, d: H*E) -> collect[t, d] { nest (u: U) -> keep[] sum {
//              %h = idiv %d, E   %p = get %x[%h, %t, %u]   %v = get %y[%u, %d] … } }
//   after:   %r = nest (t: T, h: H, e: E) -> collect[t, h, e] { nest (u: U) -> keep[] sum {
//              %p = get %x[%h, %t, %u]   %d = h * E + e   %v = get %y[%u, %d] … } }
//            %o = reshape %r
//
// Quotients and remainders by the size are the axes; those by multiples of it are such of the first axis,
// which may be divided again. Only where products show by that (divided_axes.h). Requires: verified Core,
// orders not chosen. Keeps: bits and effects; the points stay in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool splitAxes(core::Module& module);

} // namespace melix::transforms
