#pragma once
// A loop in the body of a nest over rows: the values that its iterations need of a row, how the trip counts
// of rows differ, the kinds of its carries, and whether it can run for all rows (batch_rows.h).

#include "core/ir/flow.h"
#include "transforms/batch/rows.h"

namespace melix::transforms {

class Costs;
class RowFunctions;

enum class CarryKind : uint8_t {
  Rows,    ///< numbers or rows that each iteration makes anew: an array of all rows'
  Updates, ///< an array of which iterations update the same parts for all rows: updates of the array of all
  Sums,    ///< an accumulator of the nest
};
struct BatchedCarry {
  CarryKind kind;
  std::vector<core::OpId> updates;     ///< in their order
  std::optional<uint32_t> accumulator; ///< of Sums: its number in the nest, if it is one of the nest's
};

/// How the trip counts of rows differ.
enum class RowTrips : uint8_t {
  Same,
  Own,     ///< each row has its own, which is known before the loop
  Unknown, ///< of a `while`
};

class RowLoop {
public:
  RowLoop(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId loop, const core::Effects& effects,
          const Costs& costs, const RowFunctions& functions);

  /// None if all its carries can be carried for all rows, and only checks have an effect. Checks
  /// may need no carried value, and a `while` has none.
  Refused refusal();
  RowTrips trips() const { return trips_; }
  /// Whether iterations add to accumulators of the nest.
  bool addsToSums() const { return columns_.size() < carries_.size(); }

protected:
  core::Function& fn() const { return m_.functions[f_]; }
  core::RegionId iterationBody() const { return fn().ops[loop_].regions.back(); }
  core::LoopView view() const { return {fn(), fn().ops[loop_]}; }
  AxisVariance bodyVariance() const { return {m_, f_, nest_, effects_, OwnSizes::Copied}; }
  AxisVariance iterationVariance() const { return {m_, f_, loop_, effects_}; }
  std::vector<core::ValueId> indicesOf(core::OpId update) const;
  std::vector<core::ValueId> neededBy(const std::vector<core::ValueId>& values,
                                      const AxisVariance& iterations) const;

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_, loop_;
  const core::RegionId body_;
  const core::Effects& effects_;
  const Costs& costs_;
  const RowFunctions& functions_;
  const Rows rows_;
  RowTrips trips_ = RowTrips::Same;
  std::vector<core::ValueId> needs_;                   ///< operands of the loop, made outside of it
  std::vector<core::OpId> checks_, checksOfIteration_; ///< of the body, and of the loop's, in their order
  std::vector<BatchedCarry> carries_;
  std::vector<size_t> columns_; ///< the carries that are no sums

private:
  size_t axesOf(const types::Type& type) const;
  Refused refusalOfRoom() const;
  bool hasPoints() const;
  void findTrips(const AxisVariance& body);
  Refused findChecks(const AxisVariance& body);
  Refused findChecks(core::RegionId region, const AxisVariance& sweep, std::vector<core::OpId>& checks) const;
  Refused refusalOfNeeds(const std::vector<core::OpId>& checks, const AxisVariance& body) const;
  Refused effectIn(core::RegionId region) const;
  Refused findCarries(const AxisVariance& body);
  BatchedCarry carryOf(uint32_t k, const std::unordered_map<core::ValueId, uint32_t>& uses) const;
  Refused refusalOf(const BatchedCarry& carry, uint32_t k, const AxisVariance& body) const;
  bool isUpdate(core::OpId id) const;
  bool isRow(core::ValueId v, bool isUpdated) const;
  bool areSameForAll(const BatchedCarry& carry, const AxisVariance& body) const;
};

} // namespace melix::transforms
