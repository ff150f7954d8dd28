#pragma once
// Analyses how control leaves parts of a function, before they are lowered.

#include "check/tree/typed.h"

#include <set>

namespace melix::lower {

/// Whether control may leave `n` by return, or by a break or continue of a loop outside of it, one that is
/// not `inside`.
bool exitsIn(const check::Instance& instance, check::NodeId n, std::set<uint32_t> inside = {});
/// Whether a loop over `body` may end before its range does: by break, by return, or for an outer loop.
bool leavesEarly(const check::Instance& instance, check::NodeId body, uint32_t loop);
/// Whether a break or continue stands in the function.
bool jumpsInLoops(const check::Instance& instance);

/// Whether all returns in `n`, with which the function ends, stand at ends. A `return` there is the
/// function's value, and the code after `if c { return a }` is the other arm. So no flag has to record how
/// control left. (Derivatives see which arm changed a variable.)
bool returnsAtEnds(const check::Instance& instance, const types::TypeStore& types, check::NodeId n);

} // namespace melix::lower
