#pragma once
// What turns of a loop that run side by side, each in a lane, can do.

#include "loops/variance.h"

#include <optional>

namespace melix::loops {

/// A step of a reduction that gives the same in any order: the value carried, `op`, a term.
struct ExactStep {
  core::OpKind op;
  ValueId term;
  TypeKind kind;
};
/// How the loop carries its value number `k`; none if otherwise than by such a step, which is all that uses
/// the value.
std::optional<ExactStep> exactStep(const Function& fn, const Stmt& loop, size_t k);

/// Whether a loop's turns can run side by side: they are points of a nest, of what they carry nothing rounds,
/// and what stands in them is plain arithmetic, memory that each point has of its own, branches, loops, and
/// elementary functions.
bool canWiden(const Module& module, const Function& fn, const Stmt& loop);

/// Whether a region writes to memory of the frame.
bool writesToFrame(const Function& fn, RegionId region);

/// Which values of a callee differ between lanes when it is called so.
Variance varianceOfCall(const Module& module, const Stmt& call, const Variance& caller);

} // namespace melix::loops
