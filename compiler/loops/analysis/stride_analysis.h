#pragma once
// Stride analysis: finds accesses whose lanes are contiguous in memory.
//
//   for independent %0, %n { (%i)
//     %j = sub %i, %k : i64             %j goes by 1 from lane to lane
//     %x = load %v[%j*%1] : f32         side by side: one read for all
//     %y = load %v[%j*%2] : f32         apart
//     yield }

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

/// The strides of affine values from lane to lane, where known. `note` is given the scalar ops in their
/// order.
class Neighbours {
public:
  /// `index` grows by one from lane to lane; it is none in a function that lanes call.
  Neighbours(const Function& fn, const Variance& variance, ValueId index);

  void note(const Stmt& scalar);
  /// The stride of an access in bytes, from lane to lane.
  std::optional<int64_t> strideInBytes(const Stmt& access) const;
  /// Whether lanes read or store neighbours in ascending order.
  bool areSideBySide(const Stmt& access) const;
  /// Whether they do so in descending order.
  bool areBackwards(const Stmt& access) const;

private:
  std::optional<int64_t> stepOf(ValueId v) const;

  const Function& fn_;
  const Variance& variance_;
  std::unordered_map<ValueId, int64_t> steps_;
};

} // namespace melix::loops
