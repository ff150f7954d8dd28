#pragma once
// Nests that add into accumulators of nests around them, made plain for those who make sums of the adds
// (scatter_to_gather.h).
//
// A nest that does nothing but run another, which adds into its accumulators, is one nest with it.
//
//   before:  %g = nest (%b: B) -> accs (%a = %z) { %x = get %xs[%b]
//              %i = nest (%n: N) -> accs (%c = %a) { … add_at %c[…] += … get %x[%n] … }   yield %i }
//   after:   %g = nest (%b: B, %n: N) -> accs (%a = %z) { %x = get %xs[%b]   … add_at %a[…] += … }
//
// What stands in front of the inner one is computed at its points: constants, sizes and reads, without
// effects. The terms are the same in the same order. Where the outer one does more, what the inner one makes
// by nests, loops and branches for nests in it that add is collected in front of it, but for rows that are
// made again as soon as they are read (gather_plan.h): it is kept for all points then, as what the
// outer one makes is.
//
//   before:  %i = nest (%n: N) -> accs (%c = %a) { %r = nest (%h: H) -> collect[h] { … }
//              … nest … add_at %c[…] += … %r … }
//   after:   %k = nest (%n: N) -> collect[n] { %r = nest (%h: H) -> collect[h] { … }   yield %r }
//            %i = nest (%n: N) -> accs (%c = %a) { %r = get %k[%n]   … nest … add_at %c[…] += … %r … }
//
// Not where a point has an effect beside, as a check of what is read. Requires: verified Core. Keeps: bits,
// every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool mergeAccumulations(core::Module& module);

} // namespace melix::transforms
