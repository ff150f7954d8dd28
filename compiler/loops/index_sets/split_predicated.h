#pragma once
// Rows of a contraction whose terms are under a mask are cut where the mask begins and ends to hold, and
// where it tells nothing apart in a sum, the sum is left out as a whole.
//
//   before:  for points rows 6 0, %w { (%x)
//              for points vector 16 … { for %b … { for %c … {
//                %m = 0 <= %x - %b < %n and %y …   %t = if %m { load %e[%x - %b, %c] * … } { 0 }
//                yield add %acc, %t } } } }
//   after:   for 0, 2 { for points rows 6 … { … as before … } }           the ends
//            for points rows 6 %first, %end { (%x)                        where 0 <= %x - %b < %n for all %b
//              for points vector 16 … {
//                if %y … { for %b … { for %c … { yield add %acc, load %e[%x - %b, %c] * … } } } { … } } }
//
// Rows that are two blocks at most are not cut; where only the running program knows how many there are, it
// takes all of them as ends then. Where a mask tells rows and columns apart, rows of a panel that take no sum
// do without (skip_masked_rows.h); where it tells rows and turns of the sum apart, rows leave out turns when
// they are swept together (triangular_reduction.h), or the sum is cut for some rows at a time
// (split_reduction_range.h).
//
// Ends are computed from what conditions compare: sums and differences of the row, by one, of indices of
// loops inside, and of numbers that do not change; where one of those is so large that 64 bits might wrap,
// all rows are ends. A sum is left out whose terms are then all +0 and whose chain never holds -0. Requires:
// contractions tiled. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitMasked(const Module& module, Function& function);

} // namespace melix::loops
