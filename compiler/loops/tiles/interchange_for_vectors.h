#pragma once
// Of two loops of points around each other the outer one goes inside, where it then runs in lanes, if a chain
// in a sum computes what differs between both and is the same in all turns of that sum: it is computed once
// for them (tile_contractions.h).
//
//   before:  for points %0, %n { (%p)
//              for points 0, %k { (%q)
//                %s = for points 0, %m, … { (%i, …)          its turns are the rows then
//                  … for 0, %l, … { (%j, %c)
//                    %d = sub %x[%p, %j], %v[%q, %j]   yield fma %a[%q, %i, %j], %d, %c } … }
//                store %y[%p, %q] = %s } }
//   after:   if … %m and %l are not short, and there are as many %p as lanes … {
//              for points 0, %k { (%q)
//                for points %0, %n { (%p)   … as before … } }
//          } { … as before … }
//
// Nothing else stands in the outer loop but plain numbers. Requires: counts inserted, no lanes chosen. Keeps:
// bits; each point does what it did.

#include "loops/ir/ir.h"

namespace melix::loops {

void exchangePoints(const Module& module, Function& function);

} // namespace melix::loops
