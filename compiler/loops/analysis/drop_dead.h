#pragma once
// Eliminates dead statements that remain after replacements.

#include "loops/ir/ir.h"

namespace melix::loops {

/// Removes effect-free statements of a region whose results nothing in the region uses.
void dropUnused(const Module& module, Function& fn, RegionId region);

} // namespace melix::loops
