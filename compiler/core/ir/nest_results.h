#pragma once
// Adds results to an existing nest.

#include "core/ir/nest.h"
#include "core/ir/uses.h"

namespace melix::core {

/// Adds a result to the nest, before the results of its accumulators, and the value that the body yields for
/// it. From now on these values are the result. Not for combinations, which have units too.
void addResult(Function& f, LiveUses& uses, OpId nest, NestResult spec, ValueId yielded,
               std::span<const ValueId> values);

} // namespace melix::core
