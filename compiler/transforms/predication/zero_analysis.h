#pragma once
// Elements of arrays that a mask makes zero, followed back through what makes them: exponentials of what is
// -inf where it does not hold, differences, quotients and products of these.

#include "core/ir/ir.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace melix::transforms {

/// What something else has to be for that.
enum class NeedKind : uint8_t { AboveMinusInfinity, NotZero, Finite };
struct Need {
  NeedKind kind;
  core::ValueId v;
};

/// When elements of an array are zero.
struct Zeros {
  core::ValueId mask; ///< where it does not hold, in the body that makes them
  std::unordered_map<core::ValueId, core::ValueId>
      at; ///< of axes of the nests that make them: which index that is
  std::vector<Need> needs;
};

/// When the element of an array at these indices, values of the nest that reads it, is zero; none if no mask
/// makes it so.
std::optional<Zeros> zerosOf(const core::Module& m, const core::Function& f, core::ValueId array,
                             std::vector<core::ValueId> indices);

} // namespace melix::transforms
