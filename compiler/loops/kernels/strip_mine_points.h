#pragma once
// The innermost points that a chunk is for are swept by blocks, so that a launch may share these
// (partition_launches.h): rows that are done together, and turns in lanes, are no points by themselves.
//
//   before:  for points %0, %1 { (%b) … for points rows 6 0, %n { (%i) … } }
//   after:   for points %0, %1 { (%b) … for points 0, (%n + 47) / 48 { (%u)
//              for points rows 6 %u·48, min %n, %u·48 + 48 { (%i) … } } }
//
// Not those that are known to be less than two blocks, nor where a loop of unknown length stands between: it
// has points enough. Requires: lanes chosen, contractions tiled, and rows not yet done together. Keeps:
// values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void blockPoints(const Module& module, Function& function);

} // namespace melix::loops
