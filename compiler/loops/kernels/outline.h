#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Outlines each parallel loop into a function of its own, and launches it.
/// before:  for parallel 0, n { i … }     after:  launch f.loop0 n, n, captures…
/// A body of closed statements becomes a kernel, any other a chunk function. A loop with calls that may
/// launch on a device stays a loop. The work is a nanosecond per iteration, until launch_cost.h estimates it.
/// Requires: counts inserted.
void outlineKernels(Module& module);

} // namespace melix::loops
