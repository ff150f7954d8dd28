#pragma once
// Chooses how many threads of a device run a point of a kernel together, and the loops and memory that they
// share.

#include "loops/ir/ir.h"

#include <unordered_map>
#include <unordered_set>

namespace melix::loops {

/// Threads that can exchange values without memory.
inline constexpr uint32_t warpThreads = 32;

/// The bytes that a piece of memory takes in that of a group.
constexpr uint64_t inShared(uint64_t bytes) { return (bytes + 15) / 16 * 16; }
/// Bytes of memory that the threads of a block have together, on every GPU.
inline constexpr uint64_t sharedOfBlock = 48 << 10;

/// All threads of a group run the statements of a point, with the same numbers, but for its shared loops.
struct GroupSchedule {
  uint32_t threads = 1; ///< of a group
  /// Loops whose iterations the threads share, and how many threads do: thread t runs the iterations t,
  /// t + so many, …, counted from the loop's begin. If the loop has a distance they are counted from 0.
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
