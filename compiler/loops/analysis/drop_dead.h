#pragma once
// What is left over where statements were replaced.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Leaves out plain statements in a region that nothing in it uses.
void dropUnused(const Module& module, Function& fn, RegionId region);

} // namespace melix::loops
