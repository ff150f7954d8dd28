#pragma once
// Checks branches that meet against the type expected of them.

#include "check/body/body.h"

namespace melix::check {

/// Checks one of several branches: `check` makes it at the type asked of it. The unknown parts of `expected`
/// are solved for each branch separately, as branches may differ in them. Where branches meet, the value has
/// the parts that it came with.
NodeId ownBranch(Body& body, TypeId expected, const std::function<NodeId(TypeId)>& check);

} // namespace melix::check
