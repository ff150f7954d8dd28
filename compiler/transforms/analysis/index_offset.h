#pragma once
// Finds the offset of a range: the value that a body adds to its index wherever it uses the index.
//
//   for k in i..N { … a[i, k] … }      is      for (N - i) { (%l)  %k = add %i, %l   … get %a[%i, %k] … }
//   offset: %i, sums: %k

#include "core/ir/ir.h"
#include "support/function_ref.h"

#include <optional>
#include <unordered_set>

namespace melix::transforms {

struct IndexOffset {
  core::ValueId value;
  std::unordered_set<core::ValueId> sums; ///< of the index and the offset
};

/// None if the index is used in any other way, or if a body computes the offset itself. `sizeOf` gives the
/// size that a number is, if it is one: numbers of one size are one offset.
std::optional<IndexOffset> indexOffset(const core::Function& f, core::RegionId body, core::ValueId index,
                                       FunctionRef<std::optional<core::DimId>(core::ValueId)> sizeOf);

} // namespace melix::transforms
