#pragma once
// Which stores go past the cache where the array they fill is large: those of kernels, side by side in lanes
// or to all columns of rows (`lane_groups`), to an array that the kernel does not read, in turns without a
// long loop: these wait for no memory.
//
//   before:  for points vector(16) %0, %1 { (%i) … store %y[%i*%one] = %v … }
//   after:   for points vector(16) %0, %1 { (%i) … store %y[%i*%one] stream = %v … }
//
// A line that is stored as a whole need not be read from memory first. Whether an array is large is seen when
// the kernel runs (MELIX_STREAMED_BYTES), unless all launches give it one of a small constant size. Requires:
// lanes chosen. Linear in the statements.

#include "loops/ir/ir.h"

namespace melix::loops {

void chooseStreams(Module& module);

} // namespace melix::loops
