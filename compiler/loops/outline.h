#pragma once
#include "loops/ir.h"

namespace melix::loops {

/// Makes a function of its own of each parallel loop, and a launch of it.
/// before:  for parallel 0, n { i … }     after:  launch f.loop0 n, n, captures…
/// A body of closed statements becomes a kernel, any other a chunk function. The work is a nanosecond a turn,
/// until somebody knows better (estimate_work.h). Requires: counts inserted.
void outlineKernels(Module& module, FunctionId function);

/// Whether every statement may stand in a kernel.
bool isClosed(const Module& module, const Function& function, RegionId region);

/// Marks the functions that kernels may call: closed, and without checks. Requires: all functions lowered.
void markClosed(Module& module);

} // namespace melix::loops
