#pragma once
// Whether a processor supports masked lanes, for the iterations that remain after whole strips.

#include "loops/ir/ir.h"
#include "loops/ir/machine.h"

namespace melix::loops {

/// Whether the iterations of a vectorised loop can run with some lanes off. Where masks are vectors of
/// values, accesses of varying values must be contiguous, of elements of 32 bits or more.
bool canMask(const Machine& machine, const Function& fn, const Stmt& loop);

} // namespace melix::loops
