#pragma once
// An axis of an accumulator, all of whose places are multiples of a size and an axis of that size, is two: of
// multiples by what is an index of as many by itself.
//
//   before:  %s = nest (h: H, e: E, t: T) accs (%a = %z : f32[H*E, T]) {
//              %p = add (mul %h, E), %e   %a' = add_at %a[%p, %t] += %v … }
//   after:   %y = reshape %z : f32[H, E, T]
//            %r = nest (h: H, e: E, t: T) accs (%a = %y) { %a' = add_at %a[%h, %e, %t] += %v … }
//            %s = reshape %r : f32[H*E, T]
//
// For accumulate_to_reduce, whose forms have numbers before axes: here the size is none. Requires: verified
// Core. Keeps: bits and effects.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool splitPlaces(core::Module& module);

} // namespace melix::transforms
