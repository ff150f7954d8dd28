#pragma once
// Sums and negatives of lists and enums, by functions of their own.

#include "loops/emit/lower.h"

namespace melix::loops {

std::vector<ValueId> callTangent(Lower& l, TypeId type, OpKind how, const std::vector<ValueId>& a,
                                 const std::vector<ValueId>& b);

} // namespace melix::loops
