#pragma once
// Tiles the contractions and transposed maps of a device: a block of threads runs a tile of the last two axes
// of points, and computes the operands of the tile once.
//
//   before:  for independent %begin, %end { (%p)                         a thread a point
//              %j = irem %p, %n   %i = idiv %p, %n
//              %s = for %0, %k, %zero { (%l, %c)
//                %a = load %x[%i*%k + %l*%1]   %b = load %y[%l*%n + %j*%1]   yield fma %a, %b, %c }
//              store %z[%p*%1] = %s }
//   after:   for independent %begin, %end { (%tile)                      256 threads a tile of 64 x 64 points
//              %s0 … %s15 = for %0, %steps, %zero … { (%step, %c0 …)
//                … store %xs[…] = load %x[…]   store %ys[…] = load %y[…]    each thread some of 16 terms
//                barrier
//                … = for %0, %some, %c0 … { (%l, …)
//                  %a0 = load %xs[…]  …  %b0 = load %ys[…]  …  yield fma %a0, %b0, … }
//                barrier }
//              if %inside0 { store %z[…] = %s0 } … }
//
// Beyond the last row and column a thread computes the last one's points, and stores nothing. Each sum takes
// its terms in the order in which it had them. Where the axes have few points at a launch the kernel runs as
// it was.

#include "loops/ir/ir.h"

namespace melix::loops {

void tilePoints(Module& module);

} // namespace melix::loops
