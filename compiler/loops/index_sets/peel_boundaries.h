#pragma once
// Points of a row whose indices are held within bounds, as those of a window over the edges of an image, are
// cut where that begins and ends to do nothing: within, neighbours are read side by side.
//
//   before:  for points %a, %b { (%j)
//              … for 0, 5 { (%l)  %s = add %j, %l   %t = max %s, %0   %u = min %t, %last   load %x[%u] … } }
//   after:   for 0, 2 { for points … { (%j) … as before … } }             both ends
//            for points %first, %end { (%j)                       where 0 <= %j + %l <= %last for all %l
//              … for 0, 5 { (%l)  %s = add %j, %l   load %x[%s] … } }
//
// An index that wraps, `irem %s, %n`, is one as well: within it is %s less as many %n as in the middle of the
// row. So are the points that a branch which reads tells apart by comparing them, or them and indices of
// loops inside, with their ends, `%j <= 0`, `%j - %l >= 0`, `%j - %l < %n`: those of a chunk of one row, and
// those of sums in each point, as the gradient of a window has them. Between the ends such a comparison is a
// constant: a small constant is taken to be near the first point, any other number near the last. Of the
// innermost loops of points, whose reads no points around share: those of others are put into panels
// (tile_contractions.h). Requires: points marked, no lanes chosen. Keeps: bits; each point does what it did.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitClamped(const Module& module, Function& function);

} // namespace melix::loops
