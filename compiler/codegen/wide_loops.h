#pragma once
// Which loops are widened (vectorise.h).

#include "loops/ir.h"

namespace llvm {
class BranchInst;
}

namespace melix::codegen {

/// Whether a loop may be widened: over points, with nothing inside that is a loop, may fail or is a long
/// copy, and it sums up no floats.
bool isWide(const loops::Function& fn, const loops::Stmt& loop);
/// Says of the loop with this back edge whether it is to be widened, or stays scalar.
void adviseVectoriser(llvm::BranchInst& backEdge, bool wide);

} // namespace melix::codegen
