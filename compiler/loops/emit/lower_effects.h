#pragma once
// Panics, formats, debug output.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerPanic(Lower& l, const core::Op& op);
void lowerFormat(Lower& l, const core::Op& op);
void lowerDebug(Lower& l, const core::Op& op);
void lowerBlackBox(Lower& l, const core::Op& op);

} // namespace melix::loops
