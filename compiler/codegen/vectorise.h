#pragma once
// Runs LLVM's loop vectoriser on functions that run chunks of nests. No float changes its bits: sums keep
// their order, since no fast-math flag is set. So only loops with independent iterations are vectorised, and
// exact reductions.

#include <llvm/IR/PassManager.h>

namespace melix::codegen {

/// Appends the vectoriser, and the passes that clean up after it, for functions with the attribute
/// `runsNests` (target.h).
void addVectoriser(llvm::FunctionPassManager& passes);

} // namespace melix::codegen
