#pragma once
// Contractions (contraction.h) are swept by panels of columns, and what a panel reads is put side by
// side first.
//
//   before:  for points rows 6 0, %m { (%i)
//              for points vector 16 unroll 4 0, %n { (%j)
//                … for 0, %k { (%l) … load %y[%j*%k + %l] … } … } }
//   after:   for points 0, (%n + 63) / 64 { (%p)
//              %first = … %p·64   %last = … min %n, %first + 64
//              for 0, %k { (%l) for points vector … %first, %last { (%j)
//                store %panel[%l*64 + (%j - %first)] = load %y[%j*%k + %l] } }
//              for points rows 6 0, %m { (%i)
//                for points vector 16 unroll 4 %first, %last { (%j)
//                  … for 0, %k { (%l) … load %panel[%l*64 + (%j - %first)] … } … } } }
//
// A panel is made of any expression. What lies side by side already is put there only if it is too large for
// the cache and many rows read it; else it is read where it is. What lies side by side along the sum instead
// is read so, and as many columns as there are lanes are stored together. The panel lies in scratch, which
// launches of the kernel are told the size of; where it were long and wider than what it is made of, the
// loops run point by point. Loops of points around, of which a panel tells nothing apart, are swept inside of
// it too. Requires: lanes chosen. Keeps: bits, every effect; each chain takes its terms in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

void tileContractions(Module& module);

} // namespace melix::loops
