#pragma once
// What a launch cuts into chunks is chosen when it is made: the points of the loops over its turns and inside
// of that (coalesce_parallel_loops.h), so that one image is worth sharing as well as many; or the turns of a
// loop that now stands around these, as panels of a contraction are.
//
//   before:  kernel @k(%0, %1, %n) { for points 0, %p { (%q) … panel %q … for points rows 6 %0, %1 { … } } }
//            launch @k %m, %work, %n                                                   step 48
//   after:   kernel @k(%0, %1, %n, %turns, %panels) {
//              %first = select %panels, 0, %0·48   %last = select %panels, %turns, min %turns, %1·48
//              for points select %panels, %0, 0, select %panels, min %1, %p, %p { (%q)
//                … panel %q … for points rows 6 %first, %last { … } } }
//            %b = (%m + 47) / 48   %panels = … %b and %p …
//            launch @k (select %panels, %p, %b), %work, %n, %m, %panels                step 1
//
// Each panel is then made once, and few rows of many columns have chunks too. Panels it is where they are as
// many as blocks of rows, of which there are few, or where they are many and made; sizes alone decide. Only
// where nothing else is in the kernel, but for what runs in place of all panels where these were too long:
// that is one chunk. Requires: the work of launches told. Keeps: values, every effect; every point is in one
// chunk.

#include "loops/ir/ir.h"

namespace melix::loops {

void cutLaunches(Module& module);

} // namespace melix::loops
