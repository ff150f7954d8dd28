#pragma once
// Checks.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerCheck(Lower& l, const core::Op& op);
void lowerHolds(Lower& l, const core::Op& op);

} // namespace melix::loops
