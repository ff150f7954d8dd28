#pragma once
// Finds the children of a node whose form depends on sizes that later children define.

#include "check/tree/typed_walk.h"

namespace melix::lower {

/// Finds, in order, the children that mention a size that a later child defines, and that can run after all
/// of `children`, except for their own first child. They make function values, or claim sizes of that first
/// child.
std::vector<size_t> formedLate(const check::Instance& instance, const types::TypeStore& types,
                               const std::vector<check::NodeId>& children);

} // namespace melix::lower
