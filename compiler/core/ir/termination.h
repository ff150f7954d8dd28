#pragma once
// Whether a loop ends whatever it computes.

#include "core/ir/ir.h"

namespace melix::core {

/// Of a `while`: whether it goes on only as long as a carry is not zero that each turn shifts to the right by
/// a few bits, without a sign, or is below a number from outside of the loop, or above it, to which each turn
/// brings it nearer by one.
bool surelyEnds(const Module& m, const Function& f, const Op& loop);

} // namespace melix::core
