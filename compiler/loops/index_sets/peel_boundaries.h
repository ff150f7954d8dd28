#pragma once
// Peels the boundaries of loops whose indices are clamped, as in windows over the edges of an image. In the
// steady part the clamps have no effect, and neighbours are read contiguously.
//
//   before:  for independent %a, %b { (%j)
//              … for 0, 5 { (%l)  %s = add %j, %l   %t = max %s, %0   %u = min %t, %last   load %x[%u] … } }
//   after:   for 0, 2 { for independent … { (%j) … as before … } }             both ends
//            for independent %first, %end { (%j)                       where 0 <= %j + %l <= %last for all %l
//              … for 0, 5 { (%l)  %s = add %j, %l   load %x[%s] … } }
//
// The prologue and the epilogue are one loop of two iterations, so the body is copied once.
//
// Zeros around an image are a branch. In the steady part the branch is its first arm.
//
//   before:  %m = cmp ge %s, %0   %v = if %m { load %x[%s] } { 0 }
//   after:   %v = load %x[%s]                                               in the steady part
//
// The compared value may combine the index with indices of inner loops: `%j <= 0`, `%j - %l < %n`. A constant
// of at most 8 is assumed near the first point, any other number near the last.
//
// An index that wraps, `irem %s, %n`, counts as clamped: in the steady part it is %s minus %n times the
// quotient of the middle iteration.
//
// Only for innermost loops of independent iterations whose reads no enclosing loop shares. Shared reads are
// packed into panels instead (tile_contractions.h). Requires: IndependenceMarked, NoLanes. Keeps: bits;
// each point computes the same.

#include "loops/ir/ir.h"

namespace melix::loops {

void peelBoundaries(const Module& module, Function& function);

} // namespace melix::loops
