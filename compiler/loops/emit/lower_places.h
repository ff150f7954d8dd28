#pragma once
// Reads and updates of places.

#include "loops/emit/lower.h"

namespace melix::loops {

void lowerGet(Lower& l, const core::Op& op);
void lowerSet(Lower& l, const core::Op& op);
void lowerAddAt(Lower& l, const core::Op& op);
void enterList(Lower& l, Place& place, std::vector<ValueId>& leaves, ValueId index, bool unique);

} // namespace melix::loops
