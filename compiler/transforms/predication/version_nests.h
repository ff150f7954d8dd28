#pragma once
// Versions a nest of predicated sums whose reads are known to be in range only where the mask holds. One test
// before the nest determines whether all reads are in range. If so, no point tests again.
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
// An index has to vary with only some of the nest's axes, so that the test costs little beside the sums. Only
// the checks of its reads may test it. Nests that follow, and read the results of the first one, are
// versioned with it. In the first arm the ranges of the indices are known, so that speculate_sums and
// speculate_loads may move ops out of branches. Requires: verified Core. Keeps: values, bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any nest was versioned.
bool versionNests(core::Module& module);

/// Versions nests whose axes are divided by numbers that are known before the nest. The test asks whether the
/// extents are multiples of the divisors. In the first arm each extent is the product of its divisor and the
/// quotient.
///
///   before:  %o = nest (t: T, d: D) -> collect[t, d] { %h = idiv %d, %e   … get %p[%h, %t, %u] … }
///   after:   %ok = %e >= 1 and D % %e == 0 and D / %e == H
///            %o = if %ok { %r = nest (t: T, d: H*E) …   cast_dims %r : f32[T, D] } { the nest as it was }
///
/// Whether any nest was versioned.
bool versionAxes(core::Module& module);

} // namespace melix::transforms
