#pragma once
// Loops of points around each other, in another order.

#include "loops/analysis/shared_operand.h"

#include <span>

namespace melix::loops {

/// Whether none of the loops of a contraction, its columns too, begins or ends where another one is.
bool areEndsFixed(const Contraction& found, const SharedSide& side);

/// Writes loops, each the only one in the body of the one before, in this order where the builder stands:
/// what stood beside them, plain numbers, stands in the innermost one, with what that held. Their ends are
/// those of outside, see `areEndsFixed`.
void writeInOrder(Builder& b, const SharedSide& side, std::span<const StmtId> loops,
                  std::span<const StmtId> order);

/// The same in place of the outermost one, in a region.
void reorderPoints(Function& fn, RegionId home, const SharedSide& side, std::span<const StmtId> loops,
                   std::span<const StmtId> order);

} // namespace melix::loops
