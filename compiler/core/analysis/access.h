#pragma once
// Computes the axes that each value of a function depends on.

#include "core/ir/ir.h"

#include <map>
#include <set>
#include <unordered_map>

namespace melix::core {

/// By value: the axes of the nests around it that it varies with, through data too. Indices of loops are
/// none. The results of loops, branches and nests vary with all values that are used inside and come from
/// outside of them. `analysis<AccessInfo>` keeps it.
class AccessInfo {
public:
  static constexpr char name[] = "axes of values";
  explicit AccessInfo(const Function& f);
  /// Of one op and the values in it; values from outside of it vary with nothing.
  AccessInfo(const Function& f, OpId root);
  AccessInfo(AccessInfo&&) = default;
  AccessInfo(const AccessInfo&) = delete;

  const std::set<ValueId>& axesOf(ValueId v) const { return *sets_[numberOf(v)]; }
  bool operator==(const AccessInfo& o) const;

private:
  /// Many values have the same axes: each set stands once, and has a number. 0 is the empty set.
  using Number = uint32_t;
  Number numberOf(ValueId v) const { return v.index < axes_.size() ? axes_[v.index] : 0; }
  Number number(std::set<ValueId> axes);
  Number joined(Number a, Number b);

  /// Adds to `out` the axes around the region that the values in it vary with.
  void region(RegionId r, Number& out);
  void op(const Op& op, Number& out);
  /// Adds the axes of all that is used inside a region and known by now.
  void usedInside(RegionId r, Number& out);

  const Function& f_;
  std::vector<Number> axes_; ///< by value
  std::map<std::set<ValueId>, Number> numbers_;
  std::vector<const std::set<ValueId>*> sets_; ///< by number
  std::unordered_map<uint64_t, Number> joins_; ///< of two numbers
  std::set<ValueId> open_;                     ///< axes around the op at hand
};

} // namespace melix::core
