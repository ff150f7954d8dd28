#pragma once
// Points of a nest whose sums are chains are swept inside of the chains: one term of many points after
// another, so that no term waits for the one in front of it, and neighbours are read and written side by
// side.
//
//   before:  for %a, %b points { %j
//              %s = for 0, %n, %0 { %k %c   %x = load %y[%k, %j]   yield add %c, %x }
//              store %r[%j] = %s }
//   after:   for 0, %tiles { %t    %at = …   %m = …              at most 64 points in each
//              %acc = scratch 512
//              for 0, %m points { %u   store %acc[%u] = %0 }
//              for 0, %n { %k   for 0, %m points { %u   load %acc[%u], %y[%k, %at + %u] … store %acc[%u] } }
//              for 0, %m points { %u   store %r[%at + %u] = (load %acc[%u]) } }
//
// A loop of points is taken if it is closed, some loop right inside of it sums floats in a chain, with ends
// that are the same at all points, and writes nothing, and neither checks nor carried values are needed
// before the last of those loops ends. Of loops around each other the innermost is: a body may be there
// thrice, for whole tiles, for what is left and as it was. Every chain takes its terms in its order.
// Requires: counts inserted. Keeps: bits, every effect in its order.

#include "loops/ir.h"

namespace melix::loops {

void interchange(const Module& module, Function& function);

} // namespace melix::loops
