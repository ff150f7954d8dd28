#pragma once
// LLVM's loop vectoriser, for functions that run chunks of nests. No float changes its bits: sums keep their
// order, since no fast-math flag is set, so only loops whose turns do not depend on each other are widened,
// and reductions that are exact.

#include <llvm/IR/PassManager.h>

namespace melix::codegen {

/// Appends the vectoriser, and what cleans up behind it, for functions that say `runsNests` (target.h).
void addVectoriser(llvm::FunctionPassManager& passes);

} // namespace melix::codegen
