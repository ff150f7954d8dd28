#pragma once
// Vectorises loops: chooses which loops run in vector lanes, and their vector width and interleave count.
//
//   before:  for independent %0, %n { (%i)   … load %x[%i*%1] : f32 …   store %y[%i*%1] = … }
//   after:   for independent vector 16 interleave 4 %0, %n { (%i) … }
//
// Of nested loops, the innermost one that can be vectorised is chosen (vectorizability.h). Exceptions: (1)
// its trip count is small; (2) it is a sum of a contraction; (3) it would gather where the points around it
// read contiguously.
//
// The vector width is the number of widest values in a vector register. The fewer values an iteration
// holds, the higher is the interleave count. The values of an iteration have to fit in registers, and the
// values that inner loops carry stay there. If an enclosing loop profits, some of its iterations are jammed
// (unroll_and_jam.h). A kernel records how many of its own iterations that takes (`unrolledBy`). If each
// launch has fewer rows than lanes, the loop of the columns is vectorised. Requires: counts inserted,
// IndependenceMarked. Keeps: bits, every effect in
// its order.

#include "loops/ir/ir.h"
#include "loops/ir/machine.h"

namespace melix::loops {

/// For all functions except the bodies of elementary ones, which are vectorised at their calls.
void vectorize(Module& module, const Machine& machine);

} // namespace melix::loops
