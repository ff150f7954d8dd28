#pragma once
// What text of Core says of how its nests run (plan_nest.h), and what is written where it goes
// (destinations.h): the answer to "why two sweeps?".
//
//   %rows, %columns = nest (%i: m, %j: n) -> keep[i] sum lanes(64, j), keep[j] sum chain {
//     // sweep 0 gives %rows: %i parallel, blocks of %j points in strips of 64
//     //   not cut for the pool: a reduction keeps axes
//     // sweep 1 gives %columns: %j parallel, blocks of %i points
//     //   not cut for the pool: a reduction keeps axes
//     //   apart from sweep 0: keeps other axes

#include "core/text/print.h"

namespace melix::loops {

/// Of a module that stays as it is.
core::RegionNotes planNotes(const core::Module& module);

} // namespace melix::loops
