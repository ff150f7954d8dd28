#pragma once
// Loops that a device runs, a thread a point.

#include "loops/emit/lower.h"

#include <span>

namespace melix::loops {

/// Whether loops that are emitted now are launches: code for a device, but not inside of one.
bool launches(const Lower& lower);

/// One loop over the points of some axes; `point` emits its body, with an index for each. That of the last
/// axis is the fastest: threads side by side touch neighbouring elements. Nothing is emitted after the body
/// of a lowering that failed.
void emitGrid(Lower& lower, std::span<const ValueId> extents,
              FunctionRef<void(std::span<const ValueId>)> point);

} // namespace melix::loops
