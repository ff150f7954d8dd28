#pragma once
// Recognises additive recurrences: loops that only add to a number.

#include "core/ir/uses.h"

#include <vector>

namespace melix::transforms {

/// Whether a region, the body of a loop, only adds to a number. The number is `begun` before the region and
/// `last` after it.
bool onlyAdds(const core::Function& f, core::RegionId iteration, core::ValueId begun, core::ValueId last);

/// Whether each of two reads varies with an axis or index that the other does not vary with. The reads are in
/// `iteration`, an iteration of the loop at a point of a nest with these axes. Counted are axes of the nest,
/// and axes and indices around the loop, but not the loop's own index.
bool readsTwoSides(const core::Function& f, const core::Uses& uses, core::OpId loop,
                   const std::vector<core::ValueId>& axes, core::RegionId iteration);

} // namespace melix::transforms
