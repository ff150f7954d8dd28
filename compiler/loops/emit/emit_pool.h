#pragma once
// Emits a sweep on the pool: its blocks run in any order and at once. Each leaves some scalars, which are
// combined in order, so no bit changes.

#include "loops/emit/emit_sweep.h"

namespace melix::loops {

/// For a sweep whose plan says so and whose arrays have their memory: defines the results that are not
/// arrays.
void sweepOnPool(Lower& lower, SweepEmitter& sweep);

} // namespace melix::loops
