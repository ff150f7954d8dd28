#pragma once
// What has to hold so that all that a nest reads under its masks is in range where they do not hold too.

#include "core/analysis/ranges.h"

#include <optional>
#include <set>

namespace melix::core {
class Effects;
}

namespace melix::transforms {

/// Operand `operand` of an op in a nest, made of some axes of the nest: to be an index of an axis, or
/// positive where it divides.
struct NumberNeed {
  core::OpId op;
  uint32_t operand;
  std::optional<core::DimId> extent;
  core::OpId nest;
  std::set<uint32_t> axes;
  std::vector<core::ValueId> from; ///< what it is made of in front of the nest
  bool isSum = true;               ///< of axes and of what does not change
};
/// What others are divided by comes before these.
using NumberNeeds = std::vector<NumberNeed>;

/// None if there is nothing to ask, or asking would not help. What is known of ranges is what holds in front
/// of the nest.
NumberNeeds needsOf(core::Module& module, core::FunctionId f, core::OpId nest, const core::Effects& effects,
                    core::Ranges& ranges);

} // namespace melix::transforms
