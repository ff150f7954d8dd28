#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Whether every statement may stand in a kernel.
bool isClosed(const Module& module, const Function& function, RegionId region);

/// Marks the functions that kernels may call: closed, and without checks; and those that are so but for
/// recursion and checks. Requires: all functions lowered.
void markClosed(Module& module);

/// Whether a closed function surely comes to its end: lowering made it by itself, it is an elementary
/// function, or it has loops that count only and calls none but such.
bool ends(const Module& module, const Function& function);

} // namespace melix::loops
