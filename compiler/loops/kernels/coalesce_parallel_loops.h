#pragma once
// The points that a chunk is for, as loops around each other: over the turns that the chunk is given, and as
// many of those inside as make one sequence with them. Its *units* are the points of these loops in their
// order, so that a chunk may be some of them wherever they begin and end.
//
//   before:  kernel @k(%0, %1, %n) { for points %0, %1 { (%b) … for points 0, %n { (%i) … } } }
//   after:   kernel @k(%0, %1, %n, %turns, %units) {
//              %first, %last = if %0 == 0 and %1 == %units { 0, %turns } { %0 / %n, (%1 + %n - 1) / %n }
//              for points %first, %last { (%b) …
//                for points max 0, %0 - %b·%n, min %n, %1 - %b·%n { (%i) … } } }
//
// What a function does beside such loops, and around them, is done by each chunk: memory of the thread's own
// is all that it writes.

#include "loops/ir/build.h"

#include <optional>

namespace melix::loops {

struct ChunkNests {
  std::vector<std::vector<StmtId>> nests; ///< of each its loops, outermost first: as many in all, two or more
  std::vector<ValueId> extents; ///< turns of the loops behind the first, numbers that a launch can compute
};

/// Those of a chunk function or kernel, if a loop inside is worth sharing.
std::optional<ChunkNests> findChunkNests(const Module& module, const Function& fn);

/// From one to another.
struct UnitRange {
  ValueId first, end;
};

/// Lets the function do some units of all that there are in so many turns of the outermost loops, of which
/// it returns those that hold the units. What says which they are may stand anywhere in front.
UnitRange sweepUnits(Function& fn, const ChunkNests& found, UnitRange some, ValueId turns, ValueId units);

} // namespace melix::loops
