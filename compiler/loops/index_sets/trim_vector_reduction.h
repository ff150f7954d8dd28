#pragma once
// Trims the range of masked sums in a vectorised loop. Only the iterations remain at which the mask holds for
// some lane, for as many points at a time as run side by side. Part of split_predicated.
//
//   before:  for independent vector 8 interleave 8 0, %n { (%i)
//              %s = for 0, %n, %z { (%j, %c)  %t = if (cmp le %j, %i) { … fma …, %c } { %c }   yield %t } … }
//   after:   for independent 0, (%n + 63) / 64 { (%b)  %first = %b·64   %last = min %n, %first + 64
//              for independent vector 8 interleave 8 %first, %last { (%i)
//                %s = for 0, (min %n, %last), %z { … as before … } … } }
//
// A masked load with all lanes off may point to unmapped memory, which costs about 100 times a normal load.
// Such iterations are therefore omitted. For sums whose iterations are the same for all points; where sums in
// conditions might wrap, all iterations stay. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Trims the reductions of a vectorised loop, which stands in the region `home`.
void trimVectorReduction(Function& fn, StmtId points, RegionId home);

} // namespace melix::loops
