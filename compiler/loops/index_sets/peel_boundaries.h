#pragma once
// Peels the boundaries of loops whose indices are clamped, as in windows over the edges of an image. In the
// steady part the clamps have no effect, and neighbours are read contiguously.
//
//   before:  for independent %a, %b { (%j)
//              … for 0, 5 { (%l)  %s = add %j, %l   %t = max %s, %0   %u = min %t, %last   load %x[%u] … } }
//   after:   for 0, 2 { for independent … { (%j) … as before … } }             both ends
//            for independent %first, %end { (%j)                       where 0 <= %j + %l <= %last for all %l
//              … for 0, 5 { (%l)  %s = add %j, %l   load %x[%s] … } }
//
// An index that wraps, `irem %s, %n`, counts as clamped: in the steady part it is %s minus as many %n as in
// the middle of the row. A branch that reads counts too, if it compares the index with its ends. The compared
// value may combine the index with indices of inner loops: `%j <= 0`, `%j - %l >= 0`, `%j - %l < %n`. Such
// branches come from chunks of one row, and from sums in each point, as in the gradient of a window. Between
// the ends the comparison is a constant: a small constant is assumed near the first point, any other number
// near the last.
//
// Only for innermost loops of independent iterations whose reads no enclosing loop shares. Shared reads are
// packed into panels instead (tile_contractions.h). Requires: points marked, no lanes chosen. Keeps: bits;
// each point computes the same.

#include "loops/ir/ir.h"

namespace melix::loops {

void peelBoundaries(const Module& module, Function& function);

} // namespace melix::loops
