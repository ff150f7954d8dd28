#pragma once
// Branches, and the regions of their arms.

#include "lower/body.h"

namespace melix::lower {

/// An `if` or `match` whose arms are lowered by `makes`, each in its own region; merges the locals they
/// change.
ValueId branches(BodyLowering& fn, core::Op op, const std::vector<std::function<ValueId(RegionId)>>& makes,
                 TypeId type, const std::vector<DimSym>& sizes);
ValueId lowerIf(BodyLowering& fn, const check::Node& node);
ValueId lowerShortCircuit(BodyLowering& fn, const check::Node& node);
ValueId atEnd(BodyLowering& fn, std::vector<NodeId> nodes);

} // namespace melix::lower
