#pragma once
// The slice of a nest's body that one of several sweeps needs.

#include "core/ir/nest.h"

#include <set>

namespace melix::loops {

/// Whether an op of a region, or one in its regions, may have effects besides its results. Every call counts,
/// as callees are not examined, and so does a `while`, which may not end.
bool hasEffects(const core::Function& fn, core::RegionId region);

/// The ops of the body that compute these of its yielded values, and the ops that find sizes; `withEffects`
/// adds the ops with effects.
std::set<core::OpId> opsNeeded(const core::Function& fn, const core::NestView& nest,
                               const std::vector<core::ValueId>& yields, bool withEffects);

/// Whether iterations of an axis add to disjoint memory, given equal points of the axes before it. Every add
/// has that axis in an index: alone, or beside terms that inner axes do not change. Adds to the same field of
/// accumulators of one type have it in this form at the same position.
bool addsAreDisjoint(const core::Function& fn, const types::TypeStore& types, const core::NestView& nest,
                     uint32_t axis);

} // namespace melix::loops
