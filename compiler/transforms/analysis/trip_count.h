#pragma once
// Computes the trip count of a counted loop as a size.

#include "core/analysis/ranges.h"

namespace melix::transforms {

/// The extent of a nest that replaces a loop that runs `count` times, which is not negative; invalid if it is
/// known only at run time. `ranges` holds the facts at the loop.
core::DimId loopExtent(core::Module& m, const core::Function& f, core::Ranges& ranges, core::ValueId count);

} // namespace melix::transforms
