#pragma once
// A nest of Core as loops: one scalar loop for each axis, sweep after sweep, as its plan says (plan_nest.h).
// Nothing is decided here, nor in what it is made of:
//
//   emit_sweep.h        the loops of one sweep and the body inside
//   emit_blocks.h       those over the points of blocks
//   emit_pool.h         blocks on the pool, and what they leave behind
//   emit_results.h      where results go
//   reduction_state.h   what a reduction carries (ordered_sum.h: a float sum or product)

#include "core/ir/ir.h"

namespace melix::loops {

class Lower;

/// Defines the results of the nest.
void emitNest(Lower& lower, const core::Op& nest);

} // namespace melix::loops
