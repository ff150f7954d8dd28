#pragma once
// Finds axes of nests whose indices are divided, and whether sums gain if such an axis becomes two.

#include "core/ir/ir.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

/// The divisor of an op, if that is a size or a constant of more than 1.
std::optional<core::DimId> divisorOf(core::Module& m, const core::Function& f, const core::Op& op);

/// Whether a nest, or one in it, gives sums.
bool isOfSums(const core::Function& f, core::OpId nest);
/// Whether a nest, or one in it, gives sums or adds to its accumulators.
bool addsUp(const core::Function& f, core::OpId nest);

/// An axis is better two if that exposes products:
/// - An array is read, or added to, at a quotient of the axis and at another function of it too, as patches
///   of an image are by one index: `%x[%p / 9, %p % 9]`.
/// - An array is so at a quotient alone. Another one is so at more of the axis, and at no axis that the first
///   lacks. The second has no axis of its own then, as in `%p[%d / E, %t, %u] * %v[%u, %d]`. In shared heads
///   it has one, `%q[%h, %t, %e] * %k[%h / 2, %u, %e]`.
class DividedAxis {
public:
  DividedAxis(const core::Function& f, core::OpId nest, uint32_t axis);

  /// The least size by which that is so, as with few points a second axis of results is short. None if it is
  /// not.
  std::optional<int64_t> leastSize() const { return least_; }

private:
  /// How a number is made of the axis, and of which others.
  struct Made {
    bool ofQuotient = false, ofMore = false;
    std::unordered_set<core::ValueId> axes;
    void add(const Made& other);
  };
  const Made& of(core::ValueId v);
  Made find(core::ValueId v);

  const core::Function& f_;
  core::ValueId axis_;
  std::unordered_map<core::ValueId, Made> made_;
  std::optional<int64_t> least_;
};

} // namespace melix::transforms
