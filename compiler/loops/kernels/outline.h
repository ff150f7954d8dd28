#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Makes a function of its own of each parallel loop, and a launch of it.
/// before:  for parallel 0, n { i … }     after:  launch f.loop0 n, n, captures…
/// A body of closed statements becomes a kernel, any other a chunk function. The work is a nanosecond a turn,
/// until somebody knows better (launch_cost.h). Requires: counts inserted.
void outlineKernels(Module& module, FunctionId function);

} // namespace melix::loops
