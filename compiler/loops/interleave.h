#pragma once
// Neighbouring points of a nest whose sums are chains run at once: a chain waits for itself, several do not.
//
//   before:  for %a, %b points { %j
//              %s = for 0, %n, %0 { %k %c   %x = load %y[%k, %j]   yield add %c, %x }
//              store %r[%j] = %s }
//   after:   %m = …                        the points of whole groups
//            for 0, %groups points { %g    %j0 = …   %j1 = …
//              %s0, %s1 = for 0, %n, %0, %0 { %k %c0 %c1 … yield add %c0, %x0, add %c1, %x1 }
//              store %r[%j0] = %s0   store %r[%j1] = %s1 }
//            for %m, %b points { as before }
//
// A loop of points is taken if it is closed, some loop right inside of it carries a float from term to term
// in few statements and writes nothing, and neither checks nor carried values are needed before the last of
// those loops ends. Every chain takes its terms in its order. Requires: counts inserted. Keeps: bits, every
// effect in its order.

#include "loops/ir.h"

namespace melix::loops {

void interleave(const Module& module, Function& function);

} // namespace melix::loops
