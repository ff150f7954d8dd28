#pragma once
// Finds the conditions under which all reads of a nest are in range, even where its masks do not hold.

#include "core/analysis/ranges.h"

#include <optional>
#include <set>

namespace melix::core {
class Effects;
}

namespace melix::transforms {

/// An operand of an op in a nest, made of some axes of the nest. It has to be an index of an axis, or
/// positive where it is a divisor.
struct NumberNeed {
  core::OpId op;
  uint32_t operand;
  std::optional<core::DimId> extent;
  core::OpId nest;
  std::set<uint32_t> axes;
  std::vector<core::ValueId> from; ///< values from before the nest that it is made of
  bool isSum = true;               ///< of axes and of loop-invariant values
};
/// Divisors come before the values that they divide.
using NumberNeeds = std::vector<NumberNeed>;

/// None if there is nothing to test, or a test would not help. `ranges` holds facts from before the nest.
NumberNeeds needsOf(core::Module& module, core::FunctionId f, core::OpId nest, const core::Effects& effects,
                    core::Ranges& ranges);

} // namespace melix::transforms
