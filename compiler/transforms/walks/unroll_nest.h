#pragma once
// Unrolls a nest: emits its points one after another where a copy of its body is made.

#include "core/order/clone.h"
#include "support/function_ref.h"

namespace melix::transforms {

/// The most points of a nest that is unrolled.
constexpr int64_t mostPoints = 512;

/// Extents of the axes after the cloner's sizes are put in, if all are known and there are few points.
std::optional<std::vector<int64_t>> knownExtents(core::Module& m, core::Cloner& cloner, const core::Op& nest);

/// Appends the nest's points and enters its results in the cloner's map; false, and nothing done, where
/// extents are not known or a result is neither collected nor combined by an op. Sums and products of floats
/// are added in order, one after another from the unit. `stop` ends it early, half done.
bool unrollNest(core::Module& m, core::Cloner& cloner, const core::Op& nest, core::Builder b,
                FunctionRef<bool()> stop = {});

/// Values, row-major, as an array of these extents; of none, the value.
core::ValueId stackedArray(core::Builder& b, std::span<const int64_t> extents,
                           std::vector<core::ValueId> values);

} // namespace melix::transforms
