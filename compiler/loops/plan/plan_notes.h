#pragma once
// Annotates the text of Core with the plans of its nests (plan_nest.h), and with the values written directly
// to their destination (destinations.h). The notes answer "why two sweeps?".
//
//   %rows, %columns = nest (%i: m, %j: n) -> keep[i] sum lanes(64, j), keep[j] sum chain {
//     // sweep 0 gives %rows: %i parallel, blocks of %j points in strips of 64
//     //   not cut for the pool: a reduction keeps axes
//     // sweep 1 gives %columns: %j parallel, blocks of %i points
//     //   not cut for the pool: a reduction keeps axes
//     //   apart from sweep 0: keeps other axes

#include "core/text/print.h"
#include "loops/plan/plan_nest.h"

namespace melix::loops {

/// Why a sweep of which no points are independent is not cut for the pool; empty if it is, or has one point.
std::string_view whyNotCut(const SweepPlan& sweep);

/// The notes of a module that stays as it is.
core::RegionNotes planNotes(const core::Module& module);

} // namespace melix::loops
