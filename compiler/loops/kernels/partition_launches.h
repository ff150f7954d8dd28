#pragma once
// Chooses at run time which loops a launch partitions into chunks:
// (1) The points of the loops over its iterations and inside them (coalesce_parallel_loops.h), so that one
//     image is worth sharing as well as many.
// (2) The iterations of a loop that now encloses these, as over the panels of a contraction.
//
//   before:  kernel @k(%0, %1, %n) {
//              for independent 0, %p { (%q) … panel %q … for independent unroll_jam 6 %0, %1 { … } } }
//            launch @k %m, %work, %n   unrolled 48
//   after:   kernel @k(%0, %1, %n, %iterations, %panels) {
//              %first = select %panels, 0, %0·48
//              %last = select %panels, %iterations, min %iterations, %1·48
//              for independent select %panels, %0, 0, select %panels, min %1, %p, %p { (%q)
//                … panel %q … for independent unroll_jam 6 %first, %last { … } } }
//            %b = (%m + 47) / 48   %panels = … %b and %p …
//            launch @k (select %panels, %p, %b), %work, %n, %m, %panels   unrolled 1
//
// Each panel is then packed once, and few rows of many columns have chunks too. Panels are chosen in two
// cases: there are as many as blocks of rows, which are few; or they are many and packed. Sizes alone decide.
// Only if the kernel contains nothing else, except the code that replaces panels that would be too long: that
// is one chunk. Requires: the work of launches estimated. Keeps: values, every effect; every point is in one
// chunk.

#include "loops/ir/ir.h"

namespace melix::loops {

void partitionLaunches(Module& module);

} // namespace melix::loops
