#pragma once
// Axes of nests whose indices are divided, and whether sums gain if such an axis is two.

#include "core/ir/ir.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

/// What an op divides a number by, if that is a size or a constant of more than 1.
std::optional<core::DimId> divisorOf(core::Module& m, const core::Function& f, const core::Op& op);

/// Whether a nest, or one in it, gives sums.
bool isOfSums(const core::Function& f, core::OpId nest);
/// The same, or adds to what it is given.
bool addsUp(const core::Function& f, core::OpId nest);

/// An axis is better two where products show by that:
/// - an array is read, or added to, at a quotient of the axis and at something else of it too, as patches of
///   an image are by one index: `%x[%p / 9, %p % 9]`;
/// - one is so at a quotient alone, and another at more of the axis and at no axis that the first has not.
///   The second has no axis of its own then, as in `%p[%d / E, %t, %u] * %v[%u, %d]`; one of shared heads
///   has,
///   `%q[%h, %t, %e] * %k[%h / 2, %u, %e]`.
class DividedAxis {
public:
  DividedAxis(const core::Function& f, core::OpId nest, uint32_t axis);

  /// The least size by which that is so: of few points a second axis of results is short. None if it is not.
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
