#pragma once
// Sums of which a mask leaves out terms, and whose reads are in range by what the program says only where the
// mask holds: whether they all are is asked once in front, and where they are no point asks again.
//
//   before:  %y = nest (h: H, t: T, u: T) -> collect[h, t, u] { %m = cmp le %u, %t
//              %s = if %m { %i = get %group[%h]   %p = nest (e: E) -> keep[] sum { check index %i dims [G]
//                             … get %k[%i, %u, %e] … }  yield %p } { yield %inf }   yield %s }
//   after:   %some = cmp ge G, 1
//            %ok = if %some {
//              %all = nest (h: H) -> keep[] and { %i = get %group[%h]   yield 0 <= %i < G }
//              yield %all } { yield false }
//            %y = if %ok { the nest, of max(min(%i, G - 1), 0) in the place of %i } { the nest as it was }
//
// Only of indices that vary with some of the nest's axes, so that to ask is little beside the sums, and that
// nothing asks for but the checks of their reads. Nests that follow, and read what the first one makes, go
// with it. In the first arm ranges know what the indices are within, so that free_sums and free_reads may
// leave branches. Requires: verified Core. Keeps: values, bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool versionNests(core::Module& module);

/// The same for axes that are divided by numbers known in front: whether their extents are multiples is asked
/// there, and in the first arm they are products of what they are divided by and of how often that fits.
///
///   before:  %o = nest (t: T, d: D) -> collect[t, d] { %h = idiv %d, %e   … get %p[%h, %t, %u] … }
///   after:   %ok = %e >= 1 and D % %e == 0 and D / %e == H
///            %o = if %ok { %r = nest (t: T, d: H*E) …   cast_dims %r : f32[T, D] } { the nest as it was }
///
/// Whether there were any.
bool versionAxes(core::Module& module);

} // namespace melix::transforms
