#pragma once
// What the turns of a loop add to a number.

#include "core/ir/uses.h"

#include <vector>

namespace melix::transforms {

/// Whether a region, the body of a loop, only adds to a number, which `begun` is in front of it and `last`
/// behind.
bool onlyAdds(const core::Function& f, core::RegionId turn, core::ValueId begun, core::ValueId last);

/// Whether two reads in `turn`, a turn of the loop at a point of a nest with these axes, vary with what the
/// other does not vary with: axes of the nest, and axes and indices around the loop, but its own.
bool readsTwoSides(const core::Function& f, const core::Uses& uses, core::OpId loop,
                   const std::vector<core::ValueId>& axes, core::RegionId turn);

} // namespace melix::transforms
