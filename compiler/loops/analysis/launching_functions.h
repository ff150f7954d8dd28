#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Whether each function is a kernel of a device, or may launch one, itself or by a call. Only the thread of
/// a task may launch, so no chunk calls such a function.
std::vector<bool> launchingFunctions(const Module& module);

} // namespace melix::loops
