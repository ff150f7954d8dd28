#pragma once
// Which loops run in lanes, and in how many.
//
//   before:  for points %0, %n { (%i)   … load %x[%i*%1] : f32 …   store %y[%i*%1] = … }
//   after:   for points vector 16 unroll 4 %0, %n { (%i) … }
//
// Of loops around each other it is the innermost that can be widened (vectorizability.h), unless it has but
// few turns, or is a sum of a contraction, or one that would gather what the points around it read side by
// side. There are as many lanes as a vector register holds of the widest values, and the less a turn holds,
// the more registers at once: what is done in a turn has to fit, and what inner loops carry stays there.
// Where a loop around it gains by that, some of its points are done together (unroll_and_jam.h). A kernel is
// told how many turns of its own are (`step`). Rows of which no launch has enough for lanes leave these to
// their columns. Requires: counts inserted. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"
#include "loops/ir/machine.h"

namespace melix::loops {

/// For all functions but the bodies of elementary ones, which are widened where they are called.
void chooseLanes(Module& module, const Machine& machine);

} // namespace melix::loops
