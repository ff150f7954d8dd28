#pragma once
// The state that a reduction carries through the loops, from its unit to the value.
//
//   sums and products of floats   ordered_sum.h.
//   argmin, argmax                best value, whether there is one, its index on each reduced axis.
//
//   sums of arrays and structs    the leaves so far.
//   combine                       the leaves of the values so far.
//   max, min                      the value so far.
//   everything else               the value so far.
//
// An argmin, argmax, `max` or `min` of floats carries its value as an integer that is ordered alike.

#include "loops/emit/lower.h"
#include "loops/emit/ordered_sum.h"
#include "loops/plan/plan_nest.h"

namespace melix::loops {

class ReductionState {
public:
  using State = std::vector<ValueId>;
  ReductionState(Lower& lower, const core::Op& nest, const ResultPlan& plan);

  /// Computes the values that depend on sizes alone, once before the loops of `axes`; `isOne`: their points
  /// are one block.
  void open(std::span<const uint32_t> axes, const std::vector<ValueId>& extents, bool isOne);
  State init();
  /// Adds the term of the point at these indices, whose body has been written.
  State add(const std::vector<ValueId>& axes, const State& state);
  /// The leaves of the results.
  State finish(const State& state);
  /// The state of two neighbouring runs of points together; only for scalars.
  State merge(const State& a, const State& b);
  /// The state of a float sum or product, if it is one.
  std::optional<OrderedSum>& ordered() { return ordered_; }

private:
  bool isArg() const;
  bool isOrdinal() const;
  bool isCombine() const { return core::isCombine(*plan_.part.spec); }
  State addCombined(const State& state);
  State addPosition(const std::vector<ValueId>& axes, const State& state, ValueId term);
  ValueId addTo(ValueId sum, ValueId term);

  Lower& lower_;
  Builder& b_;
  const core::Op& nest_;
  const ResultPlan& plan_;
  const core::MonoidKind monoid_;
  const TypeKind kind_; ///< the kind of the terms
  const core::ValueId yielded_;
  std::optional<OrderedSum> ordered_;
};

} // namespace melix::loops
