#pragma once
// What a turn of a loop does, for the choice of lanes.

#include "loops/analysis/variance.h"
#include "loops/ir/ir.h"

namespace melix::loops {

constexpr uint32_t storedRows = 8; ///< turns that store neighbours together

/// What a turn of a loop is made of, as far as it differs between lanes. What stands in loops counts as often
/// as they turn.
struct LaneWork {
  uint32_t bits = 0;    ///< of the widest value
  uint32_t values = 0;  ///< that are there, each once
  uint32_t carried = 0; ///< values that inner loops carry, at most
  uint32_t held = 0;    ///< values made in front of inner loops that these use, at most
  uint32_t kept = 0;    ///< values of each turn of these that are stored by some turns together
  double chained = 0;   ///< turns of a loop that wait for each other
  double ops = 0, loads = 0, stores = 0; ///< of these, memory side by side
  double gathers = 0, scatters = 0;      ///< memory anywhere
  double inRows = 0;                     ///< reads of rows that are put apart by column
  double putApart = 0;                   ///< shuffles of registers for these
  double shuffles = 0;                   ///< of all, also for what is stored in rows
  double moves = 0;                      ///< of single lanes, to and from calls of each
  double running = 0;                    ///< ops of steps that make running totals
};

/// Of a turn of the loop, of whose values `variance` tells how they differ between lanes; `around`: how they
/// differ between turns of the loop around, if there is one.
LaneWork workInLanes(const Module& module, const Function& fn, const Stmt& loop, const Variance& variance,
                     const Variance* around = nullptr);

} // namespace melix::loops
