#pragma once
// What a node makes of its children behind others that stand behind it.

#include "check/tree/typed_walk.h"

namespace melix::lower {

/// Those of `children`, in order, that mention a size that one behind them defines, and of which all but
/// their first child can run behind all of `children`: they make function values, or claim sizes of that
/// child.
std::vector<size_t> formedLate(const check::Instance& instance, const types::TypeStore& types,
                               const std::vector<check::NodeId>& children);

} // namespace melix::lower
