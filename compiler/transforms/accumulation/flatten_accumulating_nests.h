#pragma once
// Flattens nests that add into accumulators of enclosing nests, so that later passes can convert the adds
// to sums (scatter_to_gather.h).
//
// A nest that does nothing but run another, which adds into its accumulators, is one nest with it.
//
//   before:  %g = nest (%b: B) -> accs (%a = %z) { %x = get %xs[%b]
//              %i = nest (%n: N) -> accs (%c = %a) { … add_at %c[…] += … get %x[%n] … }   yield %i }
//   after:   %g = nest (%b: B, %n: N) -> accs (%a = %z) { %x = get %xs[%b]   … add_at %a[…] += … }
//
// The ops before the inner nest are computed at its points: constants, sizes and reads, without effects. The
// terms are the same in the same order. If the outer nest does more, values that the inner nest makes by
// nests, loops and branches for adding nests inside are collected before it. They are then stored for all
// points, as the results of the outer nest are. Rows that are rematerialised as soon as they are read are not
// collected (gather_plan.h).
//
//   before:  %i = nest (%n: N) -> accs (%c = %a) { %r = nest (%h: H) -> collect[h] { … }
//              … nest … add_at %c[…] += … %r … }
//   after:   %k = nest (%n: N) -> collect[n] { %r = nest (%h: H) -> collect[h] { … }   yield %r }
//            %i = nest (%n: N) -> accs (%c = %a) { %r = get %k[%n]   … nest … add_at %c[…] += … %r … }
//
// Not if a point has another effect, as a check of a value that is read. Requires: verified Core. Keeps:
// bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any nest changed.
bool flattenAccumulatingNests(core::Module& module);

} // namespace melix::transforms
