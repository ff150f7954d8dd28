#pragma once
// Delinearises an axis of an accumulator into two. Each of its places has to be a multiple of a size, plus an
// axis of that size. The multiplier is by itself an index of as many points.
//
//   before:  %s = nest (h: H, e: E, t: T) accs (%a = %z : f32[H*E, T]) {
//              %p = add (mul %h, E), %e   %a' = add_at %a[%p, %t] += %v … }
//   after:   %y = reshape %z : f32[H, E, T]
//            %r = nest (h: H, e: E, t: T) accs (%a = %y) { %a' = add_at %a[%h, %e, %t] += %v … }
//            %s = reshape %r : f32[H*E, T]
//
// Serves scatter_to_gather: its forms have constants as factors of axes, and the size is none. Requires:
// verified Core. Keeps: bits and effects.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any axis was split.
bool delineariseAccumulators(core::Module& module);

} // namespace melix::transforms
