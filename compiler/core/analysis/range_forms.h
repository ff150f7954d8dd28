#pragma once
// Range facts that follow from comparisons of values with each other.

#include "core/analysis/ranges.h"

namespace melix::core {

/// Whether a sum or difference of i64 is an index of an axis because of comparisons of its terms, as `k - i`
/// is where `i <= k`.
bool isIndexByOrder(Ranges& ranges, ValueId v, DimId extent);
/// Whether a size is at least 0 because of comparisons of the numbers it is computed from.
bool isNaturalByOrder(Ranges& ranges, DimId size);

} // namespace melix::core
