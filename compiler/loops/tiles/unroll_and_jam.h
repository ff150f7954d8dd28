#pragma once
// Unroll-and-jam: runs some iterations of an outer loop together inside the chains of an inner one. Loads
// that they share are done once, and no chain waits for its last term.
//
//   before:  for independent unroll_jam 2 0, %m { %i
//              for independent vector 64 0, %n { %j
//                %s = for 0, %k, %0 { %l %c   load %x[%i, %l], %y[%l, %j]   yield fma … %c }
//                store %r[%i, %j] = %s } }
//   after:   for independent 0, %m / 2 { %t
//              for independent vector 64 0, %n { %j
//                %s0, %s1 = for 0, %k, %0, %0 { %l %c0 %c1
//                  load %y[%l, %j]   load %x[%t·2, %l]   load %x[%t·2 + 1, %l]   yield fma … %c0, fma … %c1 }
//                store %r[%t·2, %j] = %s0   store %r[%t·2 + 1, %j] = %s1 } }
//            for independent %m / 2 · 2, %m { %i … as before … }
//
// The remainder after blocks of rows fills one more block if it is at least half of one; the last rows of
// that block are computed again without effect. In loops where that can be, a remainder of less than three
// rows is computed as two. After blocks of short chains the remainder is processed two rows at a time, unless
// it is one less than a block.
//
// The rows may be iterations of a sum around the chain, `for independent unroll_jam 6 0, %m, %z { (%i, %t) …
// }`. They add to the carried value one after another, after the chains.
//
// For loops that have an unroll-and-jam factor; a strip, if there is one, then has fewer iterations. Every
// chain takes its terms in its order. Requires: counts inserted. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

void unrollAndJam(Function& function);

} // namespace melix::loops
