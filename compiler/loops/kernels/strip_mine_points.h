#pragma once
// Strip-mines the innermost points of a chunk, so that a launch may share the blocks (partition_launches.h).
// Jammed rows and vectorised iterations are no units by themselves.
//
//   before:  for independent %0, %1 { (%b) … for independent unroll_jam 6 0, %n { (%i) … } }
//   after:   for independent %0, %1 { (%b) … for independent 0, (%n + 47) / 48 { (%u)
//              for independent unroll_jam 6 %u·48, min %n, %u·48 + 48 { (%i) … } } }
//
// Exceptions: (1) fewer points than two blocks, if that is known; (2) a loop of unknown trip count in
// between, which has points enough. Requires: lanes chosen, contractions tiled, rows not yet jammed. Keeps:
// values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void stripMinePoints(const Module& module, Function& function);

} // namespace melix::loops
