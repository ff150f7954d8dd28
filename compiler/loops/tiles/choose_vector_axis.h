#pragma once
// Chooses the vector axis of nested independent loops: interchanges an outer one to the innermost position,
// where it is vectorised. Two conditions: (1) its lanes do more work than the lanes of the innermost loop;
// (2) sums inside read some values that vary only with the one loop, and some that vary only with the other.
//     An example is a convolution of images whose pixels are contiguous; its lanes are then channels.
//
//   before:  for independent %0, %n { (%o)
//              for independent 0, %m { (%c)
//                for independent 0, %k { (%l)                                        few
//                  %s = for 0, %w, … { (%j, %t) yield fma %x[%c, %j + %l], %y[%o, %j], %t }
//                  store %r[%o, %c, %l] = %s } } }
//   after:   if … %k is less than 16 and half of %n, or %n is 64 or more and there are 64 terms … {
//              for independent 0, %m { (%c)
//                for independent 0, %k { (%l)                                        rows
//                  for independent %0, %n { (%o) … as before … } } }
//          } { … as before … }
//
// In the example, the second alternative (`%n is 64 or more`) applies only if the innermost loop reads
// windows, or under a mask. The values that the lanes read are packed (tile_contractions.h), which pays if
// they are the same at the points of two loops or more. Beside each other the loops contain only pure
// scalars. Requires: counts inserted, no lanes chosen. Keeps: bits; each point computes the same.

#include "loops/ir/ir.h"

namespace melix::loops {

void chooseVectorAxis(const Module& module, Function& function);

} // namespace melix::loops
