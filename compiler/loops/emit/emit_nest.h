#pragma once
// Lowers a nest of Core to loops: one scalar loop for each axis, sweep after sweep, as its plan says
// (plan_nest.h). Nothing is decided here, nor in its parts:
//
//   emit_sweep.h        the loops of one sweep and the body inside
//   emit_blocks.h       the loops over the points of blocks
//
//   emit_pool.h         blocks on the pool, and their partial results
//   emit_results.h      the destinations of results
//   reduction_state.h   the carried state of a reduction
//   ordered_sum.h       the same of a float sum or product

#include "core/ir/ir.h"

namespace melix::loops {

class Lower;

/// Defines the results of the nest.
void emitNest(Lower& lower, const core::Op& nest);

} // namespace melix::loops
