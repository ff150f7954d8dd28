#pragma once
// What one of several sweeps over a nest needs of the body.

#include "core/ir/nest.h"

#include <set>

namespace melix::loops {

/// Whether an op of a region, or one in its regions, may do more than give its results. A callee is not
/// looked into, and a `while` may not end.
bool hasEffects(const core::Function& fn, core::RegionId region);

/// The ops of the body that these values, of those it yields, are made of, and what finds sizes; with
/// effects, what has any.
std::set<core::OpId> opsNeeded(const core::Function& fn, const core::NestView& nest,
                               const std::vector<core::ValueId>& yields, bool withEffects);

/// Whether turns of an axis add to different memory, as far as the axes before it have the same points: every
/// add has that axis in an index, as it is or beside what axes further in do not change, and those to the
/// same field of accumulators of one type have it so at the same position.
bool addsApart(const core::Function& fn, const types::TypeStore& types, const core::NestView& nest,
               uint32_t axis);

} // namespace melix::loops
