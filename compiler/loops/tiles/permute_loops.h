#pragma once
// Permutes nested independent loops.

#include "loops/analysis/shared_operand.h"

#include <span>

namespace melix::loops {

/// Whether the ends of a contraction's loops, its columns included, do not depend on other loops of it.
bool areEndsFixed(const Contraction& found, const SharedSide& side);

/// Emits loops, each the only loop in the body of the previous one, in this order at the builder's position.
/// The pure scalars beside them move into the innermost one, before its former body. Their ends come from
/// outside, see `areEndsFixed`.
void writeInOrder(Builder& b, const SharedSide& side, std::span<const StmtId> loops,
                  std::span<const StmtId> order);

/// The same, replacing the outermost loop in a region.
void reorderPoints(Function& fn, RegionId home, const SharedSide& side, std::span<const StmtId> loops,
                   std::span<const StmtId> order);

} // namespace melix::loops
