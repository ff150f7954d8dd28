#pragma once
// A sweep on the pool: its blocks run in any order and at once, each leaves some scalars behind, and what
// they leave is combined in order, which changes no bit.

#include "loops/emit/emit_sweep.h"

namespace melix::loops {

/// Of a sweep whose plan says so and whose arrays have their memory: defines what is no array.
void sweepOnPool(Lower& lower, SweepEmitter& sweep);

} // namespace melix::loops
