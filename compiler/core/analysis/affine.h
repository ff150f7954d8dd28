#pragma once
// Analyses index values as affine forms.
//
// Coefficients and constant are taken modulo 2^64, as the i64 that computes the index wraps. The form
// determines the value of an index and the axis that gives a value, but nothing about order or bounds.

#include "core/ir/ir.h"
#include "support/function_ref.h"

#include <map>
#include <optional>

namespace melix::core {

/// Σ coefficient · axis + constant + outside, where `outside` terms are values from outside the nest.
struct AffineIndex {
  std::map<ValueId, int64_t> axes;    ///< by axis parameter
  std::map<ValueId, int64_t> outside; ///< values that do not vary within the nest
  std::map<DimId, int64_t> dims;
  int64_t constant = 0;
  bool isAxis() const {
    return axes.size() == 1 && axes.begin()->second == 1 && outside.empty() && dims.empty() && constant == 0;
  }
};

/// into + scale · x.
void accumulate(AffineIndex& into, const AffineIndex& x, int64_t scale);

/// `isAxis` and `isOutside` classify values; nullopt if the value depends on data.
std::optional<AffineIndex> affineIndex(const Module& m, const Function& f, ValueId v,
                                       FunctionRef<bool(ValueId)> isAxis,
                                       FunctionRef<bool(ValueId)> isOutside);

} // namespace melix::core
