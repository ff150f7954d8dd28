#pragma once
// Computes the axes that each value of a function depends on.

#include "core/ir/ir.h"

#include <set>
#include <unordered_map>

namespace melix::core {

/// By value: the axes of the nests around it that it varies with, through data too. Indices of loops are
/// none. The results of loops, branches and nests vary with all values that are used inside and come from
/// outside of them.
class AccessInfo {
public:
  explicit AccessInfo(const Function& f);

  const std::set<ValueId>& axesOf(ValueId v) const;

private:
  /// Adds to `out` the axes around the region that the values in it vary with.
  void region(RegionId r, std::set<ValueId>& out);
  void op(const Op& op, std::set<ValueId>& out);
  /// Adds the axes of all that is used inside a region and known by now.
  void usedInside(RegionId r, std::set<ValueId>& out) const;

  const Function& f_;
  std::unordered_map<ValueId, std::set<ValueId>> axes_;
  std::set<ValueId> open_; ///< axes around the op at hand
};

} // namespace melix::core
