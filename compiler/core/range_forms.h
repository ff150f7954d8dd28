#pragma once
// What ranges know by comparisons of values with each other.

#include "core/ranges.h"

namespace melix::core {

/// Whether a sum or difference of i64 is an index of an axis by what its terms are compared with, as `k - i`
/// is where `i <= k`.
bool isIndexByOrder(Ranges& ranges, ValueId v, DimId extent);

} // namespace melix::core
