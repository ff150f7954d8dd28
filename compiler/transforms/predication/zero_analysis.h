#pragma once
// Finds the elements of arrays that a mask makes zero. The analysis follows an element back through the ops
// that make it. These are exponentials of values that are -inf where the mask does not hold, and differences,
// quotients and products.

#include "core/ir/ir.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace melix::transforms {

/// A condition on another value, without which the element may differ from zero.
enum class NeedKind : uint8_t { AboveMinusInfinity, NotZero, Finite };
struct Need {
  NeedKind kind;
  core::ValueId v;
};

/// The condition under which elements of an array are zero.
struct Zeros {
  core::ValueId mask; ///< where it does not hold, in the body that makes them
  std::unordered_map<core::ValueId, core::ValueId>
      at; ///< the index for each axis of the nests that make the elements
  std::vector<Need> needs;
};

/// When the element of an array at these indices, values of the nest that reads it, is zero; none if no mask
/// makes it so.
std::optional<Zeros> zerosOf(const core::Module& m, const core::Function& f, core::ValueId array,
                             std::vector<core::ValueId> indices);

/// The same of a number of a nest's body, at the axes of the nest.
std::optional<Zeros> zerosOfNumber(const core::Module& m, const core::Function& f, core::OpId nest,
                                   core::ValueId number);

} // namespace melix::transforms
