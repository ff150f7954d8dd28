#pragma once
// How often a counted loop runs, as a size.

#include "core/analysis/ranges.h"

namespace melix::transforms {

/// The extent of a nest in place of a loop that runs `count` times, which is not negative; invalid if only
/// the run knows it. `ranges` is what is known where the loop stands.
core::DimId loopExtent(core::Module& m, const core::Function& f, core::Ranges& ranges, core::ValueId count);

} // namespace melix::transforms
