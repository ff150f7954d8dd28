#pragma once
// Index values of a nest's body as affine forms of its axes.

#include "core/ir.h"

#include <functional>
#include <map>
#include <optional>

namespace melix::transforms {

/// Σ coefficient · axis + constant + outside, where `outside` terms are values from outside the nest.
struct AffineIndex {
  std::map<core::ValueId, int64_t> axes;    ///< by axis parameter
  std::map<core::ValueId, int64_t> outside; ///< values that do not vary within the nest
  std::map<core::DimId, int64_t> dims;
  int64_t constant = 0;
  bool isAxis() const {
    return axes.size() == 1 && axes.begin()->second == 1 && outside.empty() && dims.empty() && constant == 0;
  }
};

/// `isAxis` and `isOutside` classify values; nullopt if the value depends on data.
std::optional<AffineIndex> affineIndex(const core::Module& m, const core::Function& f, core::ValueId v,
                                       const std::function<bool(core::ValueId)>& isAxis,
                                       const std::function<bool(core::ValueId)>& isOutside);

} // namespace melix::transforms
