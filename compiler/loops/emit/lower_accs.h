#pragma once
// Accumulators: the addresses of their parts.

#include "loops/emit/lower.h"

namespace melix::loops {

std::vector<ValueId> openAcc(Lower& l, TypeId type, std::vector<ValueId>& leaves);
std::vector<ValueId> closeAcc(Lower& l, TypeId type, const std::vector<ValueId>& addresses,
                              std::vector<ValueId> leaves);
void addToAcc(Lower& l, TypeId type, const ValueId* addresses, const std::vector<ValueId>& leaves);

} // namespace melix::loops
