#pragma once
// LLVM's packer of straight code, for functions with a loop that carries a small array as values: what is
// done to its elements one after another is done in the lanes of a register. Loops in lanes are packed
// already, and elsewhere it finds little for its time. No float changes its bits: sums keep their order.

#include <llvm/IR/PassManager.h>

namespace melix::codegen {

constexpr unsigned fewestPacked = 4; ///< numbers of a kind that a loop carries

void addPacker(llvm::FunctionPassManager& passes);

} // namespace melix::codegen
