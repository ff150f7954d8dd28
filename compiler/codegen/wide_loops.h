#pragma once
// Which loops are widened (vectorise.h).

#include "loops/ir.h"

namespace llvm {
class BranchInst;
}

namespace melix::codegen {

/// How a loop is widened: not at all; with a scalar loop for what is left; with lanes that are off for it,
/// which is a third of the code.
enum class WidthKind : uint8_t { Scalar, WithRest, Masked };

/// Wide are loops over points with nothing inside that is a loop, may fail or is a long copy, and that sum up
/// no floats. What is written under a mask is slow to read back: where lanes of a sum lie in the frame, a
/// rest is scalar, and so is all of a few points.
WidthKind widthOf(const loops::Function& fn, const loops::Stmt& loop);
/// Says so of the loop with this back edge.
void adviseVectoriser(llvm::BranchInst& backEdge, WidthKind width);

} // namespace melix::codegen
