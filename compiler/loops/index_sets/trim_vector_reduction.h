#pragma once
// Part of split_masked: sums at points in lanes whose terms are under a mask that differs between the lanes
// take only the turns at which it holds for some of them, for as many points at a time as run side by side.
//
//   before:  for points vector 8 unroll 8 0, %n { (%i)
//              %s = for 0, %n, %z { (%j, %c)  %t = if (cmp le %j, %i) { … fma …, %c } { %c }   yield %t } … }
//   after:   for points 0, (%n + 63) / 64 { (%b)  %first = %b·64   %last = min %n, %first + 64
//              for points vector 8 unroll 8 %first, %last { (%i)
//                %s = for 0, (min %n, %last), %z { … as before … } … } }
//
// What the others would read under a mask that is off in all lanes lies anywhere: where no memory is,
// processors take a hundred times as long for nothing. Of sums whose turns are the same for all
// points; where sums in conditions might wrap, all turns stay. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Of a loop in lanes, which stands in the region `home`.
void cutLaneChains(Function& fn, StmtId points, RegionId home);

} // namespace melix::loops
