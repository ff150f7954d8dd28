#pragma once
// Constants, scalar ops, comparisons and choices.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerConst(Lower& l, const core::Op& op);
void lowerScalar(Lower& l, const core::Op& op);
void lowerCompare(Lower& l, const core::Op& op);
void lowerSelect(Lower& l, const core::Op& op);
void lowerMath(Lower& l, const core::Op& op);
void lowerSum(Lower& l, const core::Op& op);

} // namespace melix::loops
