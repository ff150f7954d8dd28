#pragma once
// Brings Core into canonical form: removes intermediate arrays, and makes each access state the memory that
// it reads, for fusion, orders of sums and schedules.
//
// A sequence of passes, each of which lowers (arrays in memory, ops); see their headers. Requires: verified
// Core without derivatives. Keeps: every effect, in order; the bits of floats, where no order was chosen yet.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any function changed.
bool canonicalise(core::Module& module);

} // namespace melix::transforms
