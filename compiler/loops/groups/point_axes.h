#pragma once
// The axes of the points of a kernel, and the values that depend on them.

#include "loops/ir/ir.h"

#include <optional>
#include <unordered_map>

namespace melix::loops {

/// How a kernel makes indices of the number of its point, of which the last is the fastest:
///   %column = irem %point, %columns   %rest = idiv %point, %columns
///   %row = irem %rest, %rows          %batch = idiv %rest, %rows        or %row is %rest
struct PointAxes {
  ValueId point, column, columns, rest, row;
  ValueId rows, batch; ///< where there are more axes than two
};
/// None if a point has one axis, or the extents differ between points.
std::optional<PointAxes> findPointAxes(const Function& kernel, RegionId point);

/// The axes, of the last two, that a value of a point may depend on.
class AxisDependence {
public:
  enum Axes : uint8_t { None, Row = 1, Column = 2, Both = 3 };

  AxisDependence(const Function& kernel, RegionId point, const PointAxes& axes);
  uint8_t of(ValueId v) const {
    const auto found = axes_.find(v);
    return found == axes_.end() ? uint8_t{None} : found->second;
  }
  /// Of all that a statement uses and makes.
  uint8_t of(const Stmt& s) const;

private:
  void region(RegionId r);
  void statement(const Stmt& s);
  uint8_t used(const Stmt& s) const;
  void add(ValueId v, uint8_t axes);

  const Function& fn_;
  std::unordered_map<ValueId, uint8_t> axes_, fixed_;
  bool changed_ = false;
};

} // namespace melix::loops
