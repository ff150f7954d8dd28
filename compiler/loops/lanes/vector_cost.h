#pragma once
// Cost model of vectorisation: the work of one iteration of a loop.

#include "loops/analysis/variance.h"
#include "loops/ir/ir.h"

namespace melix::loops {

constexpr uint32_t storedRows = 8; ///< iterations that store neighbours together

/// The work of an iteration, as far as it varies between lanes. Statements in loops count once per iteration.
struct LaneWork {
  uint32_t bits = 0;    ///< width of the widest value
  uint32_t values = 0;  ///< all values of the iteration, each once
  uint32_t carried = 0; ///< values that inner loops carry, at most
  uint32_t held = 0;    ///< values made before inner loops that these use, at most
  uint32_t kept = 0;    ///< values of each inner iteration that some iterations store together
  double chained = 0;   ///< iterations of a loop that wait for each other
  double ops = 0, loads = 0, stores = 0; ///< ops; loads and stores of contiguous memory
  double gathers = 0, scatters = 0;      ///< loads and stores of strided or indexed memory
  double inRows = 0;                     ///< reads of rows that are deinterleaved by column
  double deinterleaving = 0;             ///< shuffles of registers for these
  double shuffles = 0;                   ///< of all accesses, also of stores of interleaved rows
  double moves = 0;                      ///< moves of single lanes, to and from calls of each lane
  double running = 0;                    ///< ops of steps that make running totals
};

/// The work of an iteration of the loop. `variance` says how its values vary between lanes; `around` says how
/// they vary between iterations of the enclosing loop, if any.
LaneWork vectorCost(const Module& module, const Function& fn, const Stmt& loop, const Variance& variance,
                    const Variance* around = nullptr);

} // namespace melix::loops
