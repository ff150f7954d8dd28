#pragma once
// Nests as comprehensions and reductions; nests that add to accumulators as loops.

#include "decompile/writer.h"

namespace melix::decompile {

void writeNest(FunctionWriter& w, const core::Op& o);

} // namespace melix::decompile
