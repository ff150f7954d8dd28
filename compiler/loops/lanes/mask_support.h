#pragma once
// What a processor can do in lanes of which some are off: the turns that are left behind whole strips.

#include "loops/ir/ir.h"
#include "loops/ir/machine.h"

namespace melix::loops {

/// Whether the turns of a loop in lanes can be done with some lanes off. Where masks are values, what is read
/// and written has to lie side by side and be as wide as a mask can be.
bool canMask(const Machine& machine, const Function& fn, const Stmt& loop);

} // namespace melix::loops
