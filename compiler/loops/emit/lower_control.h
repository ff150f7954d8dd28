#pragma once
// Branches and loops.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerIf(Lower& l, const core::Op& op);
void lowerMatch(Lower& l, const core::Op& op);
void lowerFor(Lower& l, const core::Op& op);
void lowerWhile(Lower& l, const core::Op& op);

} // namespace melix::loops
