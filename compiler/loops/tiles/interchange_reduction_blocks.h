#pragma once
// Interchanges the blocks of a reduction with the points around it: one block for all points, then the next.
// The data of a block that points share then stays in the cache.
//
//   before:  for independent 0, %m { (%t)
//              for independent vector 16 … { (%j)
//                %s = for 0, %n, %z { (%b, %sofar) … chain over block %b …   yield add %sofar, %c }
//                store %y[%t, %j] = %s } }
//   after:   for 0, max %n, 1 { (%k)
//              for independent 0, %m { (%t)
//                for independent vector 16 … { (%j)
//                  … chain over block %k …
//                  %v = if %k > 0 or %n <= 0 { add (select %k > 0, load %y[%t, %j], %z), %c } { %c }
//                  store %y[%t, %j] = %v } } }
//
// A long chain of one block is strip-mined by 1,024 iterations. Each strip continues from the stored sum:
//
//   before:        %s = for 0, %n, %z { … }
//   after:         %f = if %p > 0 { load %y[%t, %j] } else { %z }      of piece %p
//                  %s = for %p*1024, min %n, (%p + 1)*1024, %f { … }
//
// If there is only one block or piece, only the test remains. The points store only these sums, into an array
// that no statement reads, and all sums have as many blocks. Panels stay before the loop. Requires: the work
// of launches estimated, rows jammed. Keeps: bits, as every sum takes its terms in their order; every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void interchangeReductionBlocks(const Module& module, Function& function);

} // namespace melix::loops
