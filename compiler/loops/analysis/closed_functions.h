#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Whether every statement may stand in a kernel.
bool isClosed(const Module& module, const Function& function, RegionId region);

/// Marks the functions that kernels may call: closed, and without checks. Also marks the functions that are
/// closed except for recursion and checks. Requires: all functions lowered.
void inferEffects(Module& module);

/// Whether a closed function is known to end. It is in three cases: lowering made it by itself; it is an
/// elementary function; or it has only counted loops, and calls only functions that are known to end.
bool ends(const Module& module, const Function& function);

} // namespace melix::loops
