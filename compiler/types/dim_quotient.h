#pragma once
// Dimensions that are multiples of others, whatever the symbols stand for.

#include "types/dims.h"

namespace melix::types {

/// What `whole` is divided by `by` where that is not 0: of one term that divides each term of `whole`.
std::optional<DimId> exactQuotient(DimStore& dims, DimId whole, DimId by);

} // namespace melix::types
