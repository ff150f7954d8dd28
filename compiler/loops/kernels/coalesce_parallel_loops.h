#pragma once
// Coalesces the loops of a chunk: its own iterations, and as many inner loops as form one sequence with them.
// Its *units* are the points of these loops in their order, so a chunk may take any consecutive units.
//
//   before:  kernel @k(%0, %1, %n) { for independent %0, %1 { (%b) … for independent 0, %n { (%i) … } } }
//   after:   kernel @k(%0, %1, %n, %iterations, %units) {
//              %first, %last = if %0 == 0 and %1 == %units { 0, %iterations } { %0 / %n, (%1 + %n - 1) / %n }
//              for independent %first, %last { (%b) …
//                for independent max 0, %0 - %b·%n, min %n, %1 - %b·%n { (%i) … } } }
//
// Every chunk executes the function's other statements, beside and around these loops. They write only memory
// of the thread's own.

#include "loops/ir/build.h"

#include <optional>

namespace melix::loops {

struct ChunkNests {
  std::vector<std::vector<StmtId>> nests; ///< the loops of each nest, outermost first: two or more, equal
  std::vector<ValueId> extents; ///< trip counts of the loops after the first, which a launch can compute
};

/// The nests of a chunk function or kernel, if an inner loop is worth sharing.
std::optional<ChunkNests> findChunkNests(const Module& module, const Function& fn);

/// Consecutive units, `end` excluded.
struct UnitRange {
  ValueId first, end;
};

/// Rewrites the function to do only some units, of all units that the given iterations of the outermost loops
/// have. Returns the outermost iterations that hold these units. The statements that compute the range may
/// stand anywhere before the loops.
UnitRange sweepUnits(Function& fn, const ChunkNests& found, UnitRange some, ValueId tripCount, ValueId units);

} // namespace melix::loops
