#pragma once
// Further results of a nest that is there.

#include "core/ir/nest.h"
#include "core/ir/uses.h"

namespace melix::core {

/// The nest gets a result of what its body yields, in front of its accumulators; from now on these values are
/// it. No combination: these have units too.
void addResult(Function& f, LiveUses& uses, OpId nest, NestResult spec, ValueId yielded,
               std::span<const ValueId> values);

} // namespace melix::core
