#pragma once
// Infers the trip counts of the launches of a chunk or kernel, as far as they are known at compile time.

#include "loops/ir/ir.h"

#include <optional>
#include <vector>

namespace melix::loops {

struct LaunchTripCount {
  std::optional<uint64_t> most; ///< none if some launch has as many as the program says when it runs
  uint64_t multiple = 0;        ///< all are multiples of it; 0 where there are none
};

/// The result, by launched function.
std::vector<LaunchTripCount> launchTripCounts(const Module& module);

/// Records in functions a number that divides all their trip counts, so that vectorised loops over these need
/// no epilogue. Requires: launches are partitioned in their final form. Keeps: everything but
/// `ChunkTurns::multiple`.
void inferLaunchTripCounts(Module& module);

} // namespace melix::loops
