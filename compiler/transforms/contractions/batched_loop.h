#pragma once
// Batches one loop in the body of a nest over rows: finds the values that its iterations need of a point,
// whether loop and nest can be interchanged, and does so (interchange_loops.h).

#include "transforms/analysis/axis_variance.h"

namespace melix::core {
class LoopView;
}

namespace melix::transforms {

class Costs;

/// How a carry is batched. It is the array of the rows that the iterations yield. If the iterations update
/// parts of an array at the same places of all rows, it is updates of the array of all rows.
struct BatchedCarry {
  std::vector<core::OpId> updates; ///< in their order
  bool isOfRows() const { return updates.empty(); }
};

class BatchedLoop {
public:
  BatchedLoop(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId loop);

  /// Whether all rows have the same trip count, the iterations carry rows of numbers, and only checks have an
  /// effect. These checks may need no carried value.
  bool canInterchange(const core::Effects& effects, const Costs& costs);
  /// Appends the loop at `b`. Before it come nests that make the values its iterations need of a point, and
  /// all checks. The nest then reads the results of the loop. Gives the loop. Requires: `mayLeave`.
  core::OpId leave(core::Builder& b, const core::Effects& effects, const Costs& costs);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  core::RegionId iterationBody() const { return fn().ops[loop_].regions[0]; }
  AxisSet allAxes() const { return AxisSet::first(fn().ops[nest_].dims.size()); }

  bool hasRoom(const Costs& costs) const;
  bool hasPoints() const;
  bool mentionsSizesOfPoint() const;
  bool findChecks(const AxisVariance& body, const AxisVariance& iterations, const core::Effects& effects);
  bool findCarries(const core::LoopView& loop, const AxisVariance& body, const AxisVariance& iterations);
  bool isUpdate(core::OpId id) const;
  bool isRow(core::ValueId v, bool isUpdated) const;
  bool areSameForAll(const BatchedCarry& carry, const AxisVariance& body,
                     const AxisVariance& iterations) const;
  std::vector<core::ValueId> indicesOf(core::OpId update) const;
  std::vector<core::ValueId> neededBy(const std::vector<core::ValueId>& values,
                                      const AxisVariance& iterations) const;
  std::vector<core::ValueId> expensiveNeeds(const Costs& costs) const;

  /// A nest over the rows, and how values of the body are copied into it.
  struct Rows {
    core::NestBuilder nest;
    core::Cloner copy;
    std::vector<core::ValueId> indices;
  };
  Rows openRows(core::Builder& b) const;
  Rows rowsAt(core::Builder& b, const AxisVariance& body, std::span<const core::ValueId> values) const;
  void checkBefore(core::Builder& b, const core::Effects& effects);
  void checkIterations(core::Builder& row, core::Cloner& copy, const AxisVariance& iterations,
                       const std::vector<core::ValueId>& tested) const;
  core::OpId around(core::Builder& b, const AxisVariance& body, const AxisVariance& iterations);
  std::vector<core::ValueId> begun(core::Builder& b, const AxisVariance& body,
                                   std::span<const core::ValueId> carries) const;
  core::Operands emitIteration(core::Builder& in, const AxisVariance& body, const AxisVariance& iterations,
                               const core::LoopView& loop, std::span<const core::ValueId> begun) const;
  core::Cloner placesAt(core::Builder& in, const AxisVariance& body, const AxisVariance& iterations,
                        core::ValueId iteration, core::ValueId index) const;
  void collectIteration(Rows& rows, const core::LoopView& loop, core::Builder& row) const;
  core::Operands carry(core::Builder& in, const core::Cloner& places, const core::LoopView& loop,
                       core::OpId made, std::span<const core::ValueId> carried) const;
  core::TypeId stacked(core::DimSym extent, core::TypeId row) const;
  void readBy(core::Builder& b, core::OpId made);

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_, loop_;
  const core::RegionId body_;
  std::vector<core::ValueId> needs_;                   ///< operands of the loop, made outside of it
  std::vector<core::OpId> checks_, checksOfIteration_; ///< of the body, and of the loop's, in their order
  std::vector<BatchedCarry> carries_;
};

} // namespace melix::transforms
