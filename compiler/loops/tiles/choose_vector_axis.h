#pragma once
// Of loops of points around each other, another one than the innermost goes inside, where it then runs in
// lanes, if these do more than those of the innermost one, and sums in it read what varies with either of
// them, and not with the other: convolutions of images whose places lie side by side, whose lanes are
// channels then.
//
//   before:  for points %0, %n { (%o)
//              for points 0, %m { (%c)
//                for points 0, %k { (%l)                                        few
//                  %s = for 0, %w, … { (%j, %t) yield fma %x[%c, %j + %l], %y[%o, %j], %t }
//                  store %r[%o, %c, %l] = %s } } }
//   after:   if … %k is less than 16 and half of what %n is, or %n is 64 or more and there are 64 terms … {
//              for points 0, %m { (%c)
//                for points 0, %k { (%l)                                        rows
//                  for points %0, %n { (%o) … as before … } } }
//          } { … as before … }
//
// The second only where the innermost loop reads windows, or under a mask. What the lanes read is put side by
// side for them (tile_contractions.h), which pays where it is the same at the points of two loops at least.
// Nothing else stands in the loops but plain numbers. Requires: counts inserted, no lanes chosen. Keeps:
// bits; each point does what it did.

#include "loops/ir/ir.h"

namespace melix::loops {

void chooseColumns(const Module& module, Function& function);

} // namespace melix::loops
