#pragma once
// Vectorizability analysis: which iterations of a loop can run side by side in vector lanes.

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

/// The state of an argmin or argmax recurrence, as indices into the carried values: the best value, whether
/// there is one, and its positions. One position is the loop's index, the others are invariant. Several
/// recurrences may share the flag.
struct ArgExtremeStep {
  ops::CmpKind beyond; ///< how a better one is to the best
  size_t isThere, iteration;
  std::vector<size_t> places; ///< with the loop's index
};

/// A reassociable step, which gives the same however it is grouped: the carried value, `op`, a term.
struct ReassociableStep {
  core::OpKind op;
  ValueId term;
  TypeKind kind;
  uint64_t unit;                           ///< the neutral element
  bool running = false;                    ///< the iteration uses the result of the step
  std::optional<ArgExtremeStep> best = {}; ///< the value of one; `op` is select
  bool along = false;                      ///< a value that goes along with a best
};
/// How the loop carries each of its values; none if it carries one of them otherwise than by such a step. The
/// step must be the only use of the value from the previous iteration.
std::optional<std::vector<ReassociableStep>> exactSteps(const Function& fn, const Stmt& loop);

/// Whether a loop can be vectorised:
/// (1) Its iterations are points of a nest.
/// (2) Carried values are never rounded.
/// (3) The body has only pure arithmetic, memory that each point has of its own, branches, loops, and calls
///     of functions without effects.
/// (4) A callee that may panic is the only statement that may not end, and is in no loop.
///
/// Lanes are called in order, so the first that panics is that of the lowest iteration.
bool canVectorize(const Module& module, const Function& fn, const Stmt& loop);
/// The same, given how values of the loop differ between iterations.
bool canVectorize(const Module& module, const Function& fn, const Stmt& loop, const Variance& variance);
/// Whether iterations of a loop can be jammed: it can be vectorised, but for loads of blocks of its own that
/// each iteration borrows, as of rows in a List.
bool canJam(const Module& module, const Function& fn, const Stmt& loop);

/// Whether the regions of a statement run under a vector mask.
bool needsMask(const Stmt& s, const Variance& variance);

/// Whether a region writes to memory of the frame.
bool writesToFrame(const Function& fn, RegionId region);

/// Whether a vector access to a frame array, of `lanes` iterations at once, lies inside the array as a whole.
/// Some of the iterations may be past the loop's end: their elements may then be read, and written back
/// unchanged.
bool hasRoomInFrame(const Function& fn, const Stmt& loop, const Stmt& access, uint32_t lanes);
/// The same for all stores to the frame in a region.
bool storesHaveRoomInFrame(const Function& fn, const Stmt& loop, RegionId region, uint32_t lanes);

/// Says which values of a callee differ between lanes for this call.
Variance varianceOfCall(const Module& module, const Stmt& call, const Variance& caller);

/// How lanes call a function.
enum class LaneCallKind : uint8_t {
  Together, ///< once: all give it the same
  Merged,   ///< its body stands in place of the call, in lanes
  OneByOne, ///< each lane that is on by itself
  Never,    ///< the callee has effects, or lanes would disturb each other
};
LaneCallKind laneCallOf(const Module& module, const Stmt& call, const Variance& caller);

} // namespace melix::loops
