#pragma once
// How many turns the launches of a chunk or kernel have, as far as that is known when compiling.

#include "loops/ir/ir.h"

#include <optional>
#include <vector>

namespace melix::loops {

struct LaunchTurns {
  std::optional<uint64_t> most; ///< none if some launch has as many as the program says when it runs
  uint64_t multiple = 0;        ///< all are multiples of it; 0 where there are none
};

/// By function that is launched.
std::vector<LaunchTurns> turnsOfLaunches(const Module& module);

/// Tells functions of which number their turns are multiples: loops over these in lanes leave nothing behind
/// then. Requires: launches are cut as they will be. Keeps: everything but `ChunkTurns::multiple`.
void noteMultiples(Module& module);

} // namespace melix::loops
