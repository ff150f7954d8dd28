#pragma once
// Calls, of functions that write results to memory they are given too.

#include "loops/emit/lower.h"

namespace melix::loops {

/// Requests that `v`, yielded by `region`, is written directly to `at` if possible (destinations.h).
void writeTo(Lower& l, core::ValueId v, core::RegionId region, const Destination& at);
void lowerCall(Lower& l, const core::Op& op);

} // namespace melix::loops
