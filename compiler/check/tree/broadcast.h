#pragma once
// Broadcasting (rules 22 and 27): trailing axes align, missing axes are added as leading axes, and an axis
// whose extent is the literal 1 stretches. A symbolic extent never stretches.

#include "check/tree/infer.h"

namespace melix::check {

/// Two axes that meet.
struct AxisPair {
  size_t leftOperand = 0, leftAxis = 0, rightOperand = 0, rightAxis = 0;
};

struct BroadcastResult {
  UnifyKind kind = UnifyKind::Equal;
  std::vector<DimId> dims;      ///< of the result
  std::vector<AxisPair> checks; ///< to be compared before the work
  AxisPair differ;              ///< of DimsDiffer
};

/// The common shape of operands with these dims (scalars have none).
BroadcastResult broadcast(Inference& infer, types::DimStore& dims,
                          const std::vector<std::vector<DimId>>& operands);

} // namespace melix::check
