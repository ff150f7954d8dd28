#pragma once
// Range facts that follow from comparisons of values with each other.

#include "core/analysis/ranges.h"

namespace melix::core {

/// Whether a sum or difference of i64 is an index of an axis because of comparisons of its terms, as `k - i`
/// is where `i <= k`.
bool isIndexByOrder(Ranges& ranges, ValueId v, DimId extent);
/// Whether of two i64 the first is at least the second plus `by`, by their ranges and by comparisons of their
/// terms.
bool isNoLessByOrder(Ranges& ranges, ValueId a, ValueId b, int64_t by = 0);
/// Whether a size is at least 0 because of comparisons of the numbers it is computed from.
bool isNaturalByOrder(Ranges& ranges, DimId size);

} // namespace melix::core
