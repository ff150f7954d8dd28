#pragma once
// What turns of a loop that run side by side, each in a lane, can do.

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

/// Of argmin and argmax: the best so far, and of what else is carried whether there is one, and its places,
/// of which one is the turn and the others are the same in all turns. Several may share the former.
struct BestStep {
  ops::CmpKind beyond; ///< how a better one is to the best
  size_t isThere, turn;
  std::vector<size_t> places; ///< the turn too
};

/// A step that gives the same however it is grouped: the value carried, `op`, a term.
struct ExactStep {
  core::OpKind op;
  ValueId term;
  TypeKind kind;
  uint64_t unit;                     ///< changes nothing
  bool running = false;              ///< the turn uses what the step makes
  std::optional<BestStep> best = {}; ///< the value of one; `op` is select
  bool along = false;                ///< what goes along with a best
};
/// How the loop carries each of its values; none if one of them otherwise than by such a step, which is all
/// that uses the value from the turn before.
std::optional<std::vector<ExactStep>> exactSteps(const Function& fn, const Stmt& loop);

/// Whether a loop's turns can run side by side: they are points of a nest, of what they carry nothing rounds,
/// and what stands in them is plain arithmetic, memory that each point has of its own, branches, loops, and
/// calls of functions without effects. Where a callee may panic, it is the only statement that may fail to
/// come to its end, and stands in no loop: lanes are called in order, so the first that panics is that of the
/// lowest turn.
bool canWiden(const Module& module, const Function& fn, const Stmt& loop);
/// The same of a loop of whose values `variance` tells how they differ between turns.
bool canWiden(const Module& module, const Function& fn, const Stmt& loop, const Variance& variance);

/// Whether what stands in the regions of a statement runs under a mask.
bool masks(const Stmt& s, const Variance& variance);

/// Whether a region writes to memory of the frame.
bool writesToFrame(const Function& fn, RegionId region);

/// Whether a load or store of an array of the frame, of `lanes` turns at once, lies in it as a whole, be some
/// of them behind the loop's end: it may then be read for those, and written back as it was.
bool hasRoomInFrame(const Function& fn, const Stmt& loop, const Stmt& access, uint32_t lanes);
/// The same of all stores to the frame in a region.
bool storesHaveRoomInFrame(const Function& fn, const Stmt& loop, RegionId region, uint32_t lanes);

/// Which values of a callee differ between lanes when it is called so.
Variance varianceOfCall(const Module& module, const Stmt& call, const Variance& caller);

/// How lanes call a function.
enum class LaneCallKind : uint8_t {
  Together, ///< once: all give it the same
  Merged,   ///< its body stands in place of the call, in lanes
  OneByOne, ///< each lane that is on by itself
  Never,    ///< what the callee does is seen, or lanes would be in each other's way
};
LaneCallKind laneCallOf(const Module& module, const Stmt& call, const Variance& caller);

} // namespace melix::loops
