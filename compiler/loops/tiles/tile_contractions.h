#pragma once
// Tiles contractions (contraction.h) by panels of columns, and packs the data that a panel reads so that it
// is contiguous.
//
//   before:  for independent unroll_jam 6 0, %m { (%i)
//              for independent vector 16 interleave 4 0, %n { (%j)
//                … for 0, %k { (%l) … load %y[%j*%k + %l] … } … } }
//   after:   for independent 0, (%n + 63) / 64 { (%p)
//              %first = … %p·64   %last = … min %n, %first + 64
//              for 0, %k { (%l) for independent vector … %first, %last { (%j)
//                store %panel[%l*64 + (%j - %first)] = load %y[%j*%k + %l] } }
//              for independent unroll_jam 6 0, %m { (%i)
//                for independent vector 16 interleave 4 %first, %last { (%j)
//                  … for 0, %k { (%l) … load %panel[%l*64 + (%j - %first)] … } … } } }
//
// A panel can hold any expression. Operands that are already contiguous are packed only if they are too large
// for the cache and many rows read them; otherwise they are read in place. Operands that are contiguous along
// the sum are read in that direction, and stored for as many columns together as there are lanes.
//
// The panel lies in scratch, whose size the launches of the kernel pass. If it were long, and wider than the
// operand that it holds, the loops run point by point. Enclosing independent loops with which the panel does
// not vary run inside of it too. Requires: lanes chosen. Keeps: bits, every effect; each chain takes its
// terms in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

void tileContractions(Module& module);

} // namespace melix::loops
