#pragma once
// Runs LLVM's SLP vectoriser on functions with a loop that carries a small array as values: successive
// operations on its elements run in the lanes of a register. Vectorised loops are packed already, and
// elsewhere the vectoriser finds little for its time. No float changes its bits: sums keep their order.

#include <llvm/IR/PassManager.h>

namespace melix::codegen {

constexpr unsigned fewestPacked = 4; ///< numbers of a kind that a loop carries

void addPacker(llvm::FunctionPassManager& passes);

} // namespace melix::codegen
