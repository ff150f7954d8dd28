#pragma once
// Counts how often a nest looks up each row of an array.
//
//   before:  nest (%v: V, %e: E) -> … { … %u = get %to[%v, %e]   %row = get %x[%u] … }
//   after:   %n = nest (%v: V, %e: E) -> accs (%a = zero) { %u = get %to[%v, %e]   add_at %a[%u], 1 }
//            and the nest as it was

#include "core/ir/walk.h"

#include <optional>
#include <span>

namespace melix::transforms {

/// The counts as i64 for each row, made at the end of the builder's region, where the outermost of the ops
/// around the lookup comes next. `around` are nests and `for` loops whose sizes are known there, from the
/// outside in. An index out of range counts nowhere. None if the indices depend on more than the axes of
/// these ops and values from before them.
std::optional<core::ValueId> lookupCounts(core::Builder& b, std::span<const core::OpId> around,
                                          core::OpId lookup, const core::Effects& effects);

} // namespace melix::transforms
