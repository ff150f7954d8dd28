#pragma once
// Stride analysis: finds accesses whose lanes are contiguous in memory.
//
//   for independent %0, %n { (%i)
//     %j = sub %i, %k : i64             %j goes by 1 from lane to lane
//     %x = load %v[%j*%1] : f32         contiguous: one read for all
//     %y = load %v[%j*%2] : f32         strided
//     yield }

#include "loops/analysis/variance.h"

#include <optional>

namespace melix::loops {

/// The strides of values and accesses from lane to lane.
class LaneStrides {
public:
  /// `index` grows by one from lane to lane; it is none in a function that lanes call.
  LaneStrides(const Function& fn, const Variance& variance, ValueId index)
      : fn_(fn), variance_(variance), index_(index) {}

  /// The stride of an access in bytes, where known.
  std::optional<int64_t> strideInBytes(const Stmt& access);
  /// Whether lanes read or store contiguous elements in ascending order.
  bool areSideBySide(const Stmt& access);
  /// Whether they do so in descending order.
  bool areBackwards(const Stmt& access);

private:
  const std::optional<int64_t>& strideOf(ValueId v);
  std::optional<int64_t> findStride(ValueId v) const;
  bool isStripPosition(ValueId v) const;

  const Function& fn_;
  const Variance& variance_;
  const ValueId index_;
  std::unordered_map<ValueId, std::optional<int64_t>> strides_;
};

} // namespace melix::loops
