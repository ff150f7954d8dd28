#pragma once
// Interchanges two nested independent loops, so that the outer one becomes the innermost and is vectorised.
// The condition is a chain inside a sum that computes values which vary with both loops, but not with that
// sum. Such values are then computed once for its iterations (tile_contractions.h).
//
//   before:  for independent %0, %n { (%p)
//              for independent 0, %k { (%q)
//                %s = for independent 0, %m, … { (%i, …)          its iterations are the rows then
//                  … for 0, %l, … { (%j, %c)
//                    %d = sub %x[%p, %j], %v[%q, %j]   yield fma %a[%q, %i, %j], %d, %c } … }
//                store %y[%p, %q] = %s } }
//   after:   if … %m and %l are not short, and there are as many %p as lanes … {
//              for independent 0, %k { (%q)
//                for independent %0, %n { (%p)   … as before … } }
//          } { … as before … }
//
// Beside the inner loop, the outer one contains only pure scalars. Requires: counts inserted, no lanes
// chosen. Keeps: bits; each point computes the same.

#include "loops/ir/ir.h"

namespace melix::loops {

void interchangeForVectors(const Module& module, Function& function);

} // namespace melix::loops
