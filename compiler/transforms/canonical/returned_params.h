#pragma once
// Results that are parameters go, round recursion too: callers have the argument. A part of flatten_records.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool dropReturnedParams(core::Module& module);

} // namespace melix::transforms
