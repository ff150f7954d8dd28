#pragma once
#include "loops/ir.h"

namespace melix::loops {

/// Makes a function of its own of each parallel loop, and a launch of it.
/// before:  for 0..n parallel(w) { i … }     after:  launch f.chunk0 n, w, captures…
/// A body of closed statements becomes a kernel, any other a chunk function. Requires: counts inserted.
void outlineKernels(Module& module, FunctionId function);

/// Whether every statement may stand in a kernel.
bool isClosed(const Module& module, const Function& function, RegionId region);

/// Marks the functions that kernels may call: closed, and without checks. Requires: all functions lowered.
void markClosed(Module& module);

} // namespace melix::loops
