#pragma once
// Lists.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerListOf(Lower& l, const core::Op& op);
void lowerLength(Lower& l, const core::Op& op);
void lowerPush(Lower& l, const core::Op& op);
void lowerPop(Lower& l, const core::Op& op);
void lowerToArray(Lower& l, const core::Op& op);
void lowerToList(Lower& l, const core::Op& op);

} // namespace melix::loops
