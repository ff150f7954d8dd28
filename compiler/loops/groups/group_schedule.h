#pragma once
// Chooses how many threads of a device run a point of a kernel together, and the loops and memory that they
// share.

#include "loops/ir/ir.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// Threads that can exchange values without memory.
inline constexpr uint32_t warpThreads = 32;

/// All threads of a group run the statements of a point, with the same numbers, but for its shared loops.
struct GroupSchedule {
  uint32_t threads = 1; ///< of a group
  /// Loops whose iterations the threads share, and among how many: iteration k is that of thread k mod so
  /// many, counted from the loop's begin or, if it has a distance, from 0.
  std::unordered_map<StmtId, uint32_t> loops;
  /// Memory of the frame that the group has once: shared loops store into it.
  std::unordered_set<StmtId> memory;
};

/// The statements of a point of a kernel; none if no loop runs over its points.
RegionId pointOf(const Function& kernel);

/// A group runs a point if three things hold. (1) Most of the work is in inner loops whose iterations can be
/// shared. (2) Neighbours in memory are neighbours in those loops. (3) The memory into which the loops store
/// fits into that of a group. Else a thread runs a point.
GroupSchedule chooseGroup(const Module& module, const Function& kernel);

} // namespace melix::loops
