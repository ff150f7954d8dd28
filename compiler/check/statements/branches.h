#pragma once
// What is asked of branches that meet.

#include "check/body/body.h"

namespace melix::check {

/// A branch of several, which `check` makes at the type asked of it. What is still to be found of `expected`
/// is the branch's own: the others may differ in it, and where they meet, the value has what it came with.
NodeId ownBranch(Body& body, TypeId expected, const std::function<NodeId(TypeId)>& check);

} // namespace melix::check
