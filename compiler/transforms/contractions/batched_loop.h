#pragma once
// A loop in the body of a nest over rows: what its turns need of a point, whether it can go around the nest,
// and how (interchange_loops.h).

#include "transforms/analysis/axis_variance.h"

namespace melix::core {
class LoopView;
}

namespace melix::transforms {

class Costs;

/// How a carry goes around for all rows: as the rows that turns give, or, where turns update parts of an
/// array at the same places of all rows, by updates of the array of all rows.
struct CarryOfRows {
  std::vector<core::OpId> updates; ///< in their order
  bool isOfRows() const { return updates.empty(); }
};

class LoopOfRows {
public:
  LoopOfRows(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId loop);

  /// Whether all rows have as many turns, which carry rows of numbers, and nothing but checks has an effect,
  /// which need nothing that is carried.
  bool mayLeave(const core::Effects& effects, const Costs& costs);
  /// Appends the loop at `b`, in front of it nests of what its turns need of a point, and of all checks; the
  /// nest reads what they give. Gives the loop. Requires: it may leave.
  core::OpId leave(core::Builder& b, const core::Effects& effects, const Costs& costs);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  core::RegionId turnBody() const { return fn().ops[loop_].regions[0]; }
  AxisSet allAxes() const { return AxisSet::first(fn().ops[nest_].dims.size()); }

  bool hasRoom(const Costs& costs) const;
  bool hasPoints() const;
  bool mentionsSizesOfPoint() const;
  bool findChecks(const SweepBody& body, const SweepBody& turns, const core::Effects& effects);
  bool findCarries(const core::LoopView& loop, const SweepBody& body, const SweepBody& turns);
  bool isUpdate(core::OpId id) const;
  bool isRow(core::ValueId v, bool isUpdated) const;
  bool areSameForAll(const CarryOfRows& carry, const SweepBody& body, const SweepBody& turns) const;
  std::vector<core::ValueId> indicesOf(core::OpId update) const;
  std::vector<core::ValueId> neededBy(const std::vector<core::ValueId>& values, const SweepBody& turns) const;
  std::vector<core::ValueId> dearNeeds(const Costs& costs) const;

  /// A nest over the rows, and how values of the body are copied into it.
  struct Rows {
    core::NestBuilder nest;
    core::Cloner copy;
    std::vector<core::ValueId> indices;
  };
  Rows openRows(core::Builder& b) const;
  Rows rowsAt(core::Builder& b, const SweepBody& body, std::span<const core::ValueId> values) const;
  void checkInFront(core::Builder& b, const core::Effects& effects);
  void checkTurns(core::Builder& row, core::Cloner& copy, const SweepBody& turns,
                  const std::vector<core::ValueId>& tested) const;
  core::OpId around(core::Builder& b, const SweepBody& body, const SweepBody& turns);
  std::vector<core::ValueId> begun(core::Builder& b, const SweepBody& body,
                                   std::span<const core::ValueId> carries) const;
  core::Operands turn(core::Builder& in, const SweepBody& body, const SweepBody& turns,
                      const core::LoopView& loop, std::span<const core::ValueId> begun) const;
  core::Cloner placesAt(core::Builder& in, const SweepBody& body, const SweepBody& turns, core::ValueId turn,
                        core::ValueId index) const;
  void collectTurn(Rows& rows, const core::LoopView& loop, core::Builder& row) const;
  core::Operands carry(core::Builder& in, const core::Cloner& places, const core::LoopView& loop,
                       core::OpId made, std::span<const core::ValueId> carried) const;
  core::TypeId stacked(core::DimSym extent, core::TypeId row) const;
  void readBy(core::Builder& b, core::OpId made);

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_, loop_;
  const core::RegionId body_;
  std::vector<core::ValueId> needs_;              ///< of the loop, made outside of it
  std::vector<core::OpId> checks_, checksOfTurn_; ///< of the body, and of the loop's, in their order
  std::vector<CarryOfRows> carries_;
};

} // namespace melix::transforms
