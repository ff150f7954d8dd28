#pragma once
#include "loops/ir/ir.h"

namespace melix::loops {

/// Whether each function runs on a device, or calls one that does. Only the thread of a task may launch, so
/// no chunk calls such a function.
std::vector<bool> launchingFunctions(const Module& module);

} // namespace melix::loops
