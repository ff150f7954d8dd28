#pragma once
// What the values in the body of a nest depend on, and how it reads arrays.

#include "core/ir.h"

#include <map>
#include <set>
#include <unordered_map>

namespace melix::core {

/// Axes are the axis parameters of nests and the index parameters of loops.
class AccessInfo {
public:
  AccessInfo(const Module& m, const Function& f);

  /// Axis parameters (of any enclosing nest or loop) a value varies with. Values computed by loops and
  /// branches vary with everything inside them that comes from outside the op.
  const std::set<ValueId>& axesOf(ValueId v) const;
  /// Index operands of a `get`, `set` or `add_at`, one for each Index step; none for other steps.
  std::vector<ValueId> indices(const Op& op) const;
  /// Whether the term's reads include one whose last index is `axis` with coefficient 1.
  bool readsContiguously(ValueId term, ValueId axis) const {
    std::set<ValueId> seen;
    return readsContiguously(term, axis, seen);
  }

private:
  bool readsContiguously(ValueId term, ValueId axis, std::set<ValueId>& seen) const;
  /// Adds to `out` the axes around the region that what is in it varies with.
  void region(RegionId r, std::set<ValueId>& out);
  const Module& m_;
  const Function& f_;
  std::unordered_map<ValueId, std::set<ValueId>> axes_;
  std::set<ValueId> open_; ///< axes around the op at hand
};

} // namespace melix::core
