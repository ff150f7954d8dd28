#pragma once
// The destinations of a sweep's results: values, memory, and the elements that a filter keeps.

#include "loops/emit/reduction_state.h"

namespace melix::loops {

struct SweptResult {
  const ResultPlan& plan;
  std::vector<Place> out; ///< memory of array results, as far as they are kept axes: for each of its results
  std::vector<bool> placed; ///< the memory belongs to somebody else
  std::optional<ReductionState> state;
  uint32_t at = 0; ///< position of its state among the carried values
  uint32_t count = 0;

  ReductionState::State stateIn(const std::vector<ValueId>& carried) const {
    return {carried.begin() + at, carried.begin() + at + count};
  }
  void setState(std::vector<ValueId>& carried, const ReductionState::State& state) const {
    std::copy(state.begin(), state.end(), carried.begin() + at);
  }
  /// Appends a state of its own to the carried values.
  void begin(std::vector<ValueId>& carried, const ReductionState::State& state) {
    at = static_cast<uint32_t>(carried.size());
    count = static_cast<uint32_t>(state.size());
    carried.insert(carried.end(), state.begin(), state.end());
  }
};

class SweepResults {
public:
  /// `extents` and `axes`, the current indices, are by axis; both stay at their address.
  SweepResults(Lower& lower, const core::Op& nest, const SweepPlan& plan, const std::vector<ValueId>& extents,
               const std::vector<ValueId>& axes);

  std::vector<SweptResult>& all() { return results_; }
  /// Whether one is a filter.
  bool filters() const;
  /// Memory of the results that keep axes.
  void allocate();
  /// Arrays that the body only yields are written directly to their destination.
  void planDestinations();
  /// Stores the values that the body yielded at this point in their results; reductions and filters carry
  /// them on.
  void takePoint(std::vector<ValueId>& carried);
  /// The values of the reductions that end inside that many loops.
  void finishLevel(uint32_t level, const std::vector<ValueId>& carried);
  /// Makes an array of its own size of the elements that a filter kept. They may lie in blocks, each as long
  /// as `counts` says.
  void finishFilter(const SweptResult& r, ValueId count, ValueId counts = {}, ValueId blocks = {});
  /// Defines the results that are memory.
  void defineArrays();

private:
  void allocateFilter(SweptResult& r);
  void allocateArray(SweptResult& r, uint32_t k);
  std::vector<ValueId> arraysLike(TypeId type) const;
  Place placeOf(const SweptResult& r, uint32_t k) const;
  void storeAt(const Place& place, const std::vector<ValueId>& value);
  ValueId storeKept(const SweptResult& r, ValueId count);
  std::vector<ValueId> filterDims(TypeId type, ValueId first);
  void joinBlocks(ValueId to, ValueId from, ValueId bytes, ValueId counts, ValueId blocks);
  core::ValueId result(const SweptResult& r, uint32_t k) const {
    return nest_.results[r.plan.part.results.first + k];
  }
  core::ValueId yielded(const SweptResult& r, uint32_t k = 0) const {
    return lower_.yieldOf(nest_.regions[0]).operands[r.plan.part.yields.first + k];
  }

  Lower& lower_;
  Builder& b_;
  const core::Op& nest_;
  const std::vector<ValueId>&extents_, &axes_;
  std::vector<SweptResult> results_;
};

} // namespace melix::loops
