#pragma once
// The state that a reduction carries through the loops, from its unit to the value.
//
//   sums and products of floats   ordered_sum.h
//   argmin, argmax                best value, whether there is one, its index on each reduced axis
//   sums of arrays and structs    the leaves so far
//   combine                       the leaves of the values so far
//   max, min                      the value so far
//   everything else               the value so far
//
// Of floats the value of the first and of `max` and `min` is an integer that is ordered alike.

#include "loops/emit/lower.h"
#include "loops/emit/ordered_sum.h"
#include "loops/plan/plan_nest.h"

namespace melix::loops {

class ReductionState {
public:
  using State = std::vector<ValueId>;
  ReductionState(Lower& lower, const core::Op& nest, const ResultPlan& plan);

  /// What is told by the sizes, once before the loops of `axes`; `isOne`: their points are one block.
  void open(std::span<const uint32_t> axes, const std::vector<ValueId>& extents, bool isOne);
  State init();
  /// With the term of the point at these indices, whose body has been written.
  State add(const std::vector<ValueId>& axes, const State& state);
  /// The leaves of the results.
  State finish(const State& state);
  /// What two neighbouring runs of points give together, of scalars.
  State merge(const State& a, const State& b);
  /// Of a float sum or product.
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
  const TypeKind kind_; ///< of the terms
  const core::ValueId yielded_;
  std::optional<OrderedSum> ordered_;
};

} // namespace melix::loops
