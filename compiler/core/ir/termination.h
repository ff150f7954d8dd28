#pragma once
// Proves that a loop ends, whatever it computes.

#include "core/ir/ir.h"

namespace melix::core {

/// Proves that a `while` ends. Its condition requires one of these, or a conjunction that contains one:
///   1. A carry is not zero, and each iteration shifts it to the right by 1 to 7 bits, without a sign.
///   2. A carry is below, or above, a loop-invariant number, and each iteration brings it nearer by one.
bool provablyTerminates(const Module& m, const Function& f, const Op& loop);

} // namespace melix::core
