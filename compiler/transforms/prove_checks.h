#pragma once
// Internal to simplify: checks that always hold, by intervals over dimensions.

#include "core/ir.h"

namespace melix::transforms {

/// Whether the check can never fail where it stands: constants, loop and axis indices in their ranges,
/// dimensions with their lower bounds. Nothing stronger.
bool isProved(core::Module& m, const core::Function& f, const core::Op& check);

} // namespace melix::transforms
