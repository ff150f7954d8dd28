#pragma once
// Some points of an outer loop are swept together inside of the chains of an inner one, so that what does not
// differ between them is read once, and no chain waits for its last term.
//
//   before:  for points rows(2) 0, %m { %i
//              for points vector(64) 0, %n { %j
//                %s = for 0, %k, %0 { %l %c   load %x[%i, %l], %y[%l, %j]   yield fma … %c }
//                store %r[%i, %j] = %s } }
//   after:   for points 0, %m / 2 { %t
//              for points vector(64) 0, %n { %j
//                %s0, %s1 = for 0, %k, %0, %0 { %l %c0 %c1
//                  load %y[%l, %j]   load %x[%t·2, %l]   load %x[%t·2 + 1, %l]   yield fma … %c0, fma … %c1 }
//                store %r[%t·2, %j] = %s0   store %r[%t·2 + 1, %j] = %s1 } }
//            for points %m / 2 · 2, %m { %i … as before … }
//
// What is left behind blocks fills one more, whose last rows are done again for nothing, if it is half of one
// or more; where that can be, what is less than three points is done as two. What is left behind blocks of
// brief chains is done two points at a time, but for what is one less than a block.
//
// The rows may be turns of a sum around the chain, `for points rows 6 0, %m, %z { (%i, %t) … }`: they add to
// what it carries one after another, behind the chains.
//
// Done for loops that say how many rows they take; a strip, if there is one, is of fewer turns then. Every
// chain takes its terms in its order. Requires: counts
// inserted. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

void jamRows(Function& function);

} // namespace melix::loops
