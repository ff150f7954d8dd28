#pragma once
// Further results of a nest that is there.

#include "core/nest.h"
#include "core/uses.h"

namespace melix::core {

/// The nest, which has no accumulators, gets a result of what its body yields; from now on these values are
/// it.
void addResult(Function& f, LiveUses& uses, OpId nest, NestResult spec, ValueId yielded,
               std::span<const ValueId> values);

} // namespace melix::core
