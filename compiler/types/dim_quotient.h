#pragma once
// Dimensions that are multiples of others, whatever the symbols stand for.

#include "types/dims.h"

namespace melix::types {

/// The exact quotient of `whole` by `by`, where `by` is not 0: `by` is `whole`, or one term that divides each
/// term of `whole`.
std::optional<DimId> exactQuotient(DimStore& dims, DimId whole, DimId by);

} // namespace melix::types
