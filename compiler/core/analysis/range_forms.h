#pragma once
// What ranges know by comparisons of values with each other.

#include "core/analysis/ranges.h"

namespace melix::core {

/// Whether a sum or difference of i64 is an index of an axis by what its terms are compared with, as `k - i`
/// is where `i <= k`.
bool isIndexByOrder(Ranges& ranges, ValueId v, DimId extent);
/// Whether a size is at least 0 by what the numbers that it is made of are compared with.
bool isNaturalByOrder(Ranges& ranges, DimId size);

} // namespace melix::core
