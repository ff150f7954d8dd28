#pragma once
// Batches one loop in the body of a nest over rows: finds the values that its iterations need of a row,
// whether loop and nest can be interchanged, and does so (batch_rows.h).

#include "core/ir/flow.h"
#include "transforms/batch/row_adds.h"
#include "transforms/batch/rows.h"

namespace melix::transforms {

class Costs;
class RowFunctions;

enum class CarryKind : uint8_t {
  Rows,    ///< numbers or rows that each iteration makes anew: an array of those of all rows
  Updates, ///< an array of which iterations update the same parts for all rows: updates of the array of all
  Sums,    ///< an accumulator of the nest
};
struct BatchedCarry {
  CarryKind kind;
  std::vector<core::OpId> updates; ///< in their order
  uint32_t accumulator = 0;        ///< of Sums: its number in the nest
};

/// How the trip counts of rows differ.
enum class RowTrips : uint8_t {
  Same,
  Own,     ///< each row has its own, which is known before the loop
  Unknown, ///< of a `while`
};

class BatchedLoop {
public:
  BatchedLoop(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId loop,
              const core::Effects& effects, const Costs& costs, const RowFunctions& functions);

  /// Whether the iterations carry what can be carried for all rows, and only checks have an effect. Checks
  /// may need no carried value, and a `while` has none.
  bool canInterchange();
  /// Whether iterations add to accumulators of the nest.
  bool addsToSums() const { return columns_.size() < carries_.size(); }
  /// Appends the loop at `b`. Before it come nests that make the values its iterations need of a row, and
  /// all checks. The nest then reads the results of the loop. Gives the loop. Requires: `canInterchange`.
  core::OpId leave(core::Builder& b);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  core::RegionId iterationBody() const { return fn().ops[loop_].regions.back(); }
  core::LoopView view() const { return {fn(), fn().ops[loop_]}; }

  bool hasRoom() const;
  bool hasPoints() const;
  bool findTrips(const AxisVariance& body);
  bool findChecks(const AxisVariance& body);
  bool findChecks(core::RegionId region, const AxisVariance& sweep, std::vector<core::OpId>& checks) const;
  bool isSilent(core::RegionId region) const;
  bool findCarries(const AxisVariance& body);
  std::optional<BatchedCarry> carryOf(uint32_t k, const std::unordered_map<core::ValueId, uint32_t>& uses,
                                      const AxisVariance& body) const;
  std::optional<uint32_t> accumulatorOf(core::ValueId v) const;
  bool isUpdate(core::OpId id) const;
  bool isRow(core::ValueId v, bool isUpdated) const;
  bool areSameForAll(const BatchedCarry& carry, const AxisVariance& body) const;
  std::vector<core::ValueId> indicesOf(core::OpId update) const;
  std::vector<core::ValueId> neededBy(const std::vector<core::ValueId>& values,
                                      const AxisVariance& iterations) const;
  AxisVariance bodyVariance() const { return {m_, f_, nest_, effects_, OwnSizes::Copied}; }
  AxisVariance iterationVariance() const { return {m_, f_, loop_, effects_}; }

  /// What an iteration gives.
  struct Iteration {
    std::vector<core::ValueId> given; ///< by columns: rows, or what each update puts in; then what is stacked
    std::optional<RowAdds> adds;      ///< of its accumulators
    std::vector<core::ValueId> stored; ///< arrays of what the adds need
  };

  // Emission, the same for all trips (emit_batched_loop.cpp).
  void checkBefore(core::Builder& b);
  void checkIterations(core::Builder& row, core::Cloner& copy, const AxisVariance& iterations,
                       const std::vector<core::ValueId>& tested) const;
  std::vector<core::ValueId> begun(core::Builder& b, const RowSet* set) const;
  std::vector<core::ValueId> sumsBegun() const;
  void enterCarries(RowNest& rows, core::Builder& row, std::span<const core::ValueId> params,
                    std::span<const core::ValueId> carried, std::span<const core::ValueId> indices) const;
  Iteration endIteration(RowNest& rows, core::Builder& in, std::vector<core::ValueId>& sums) const;
  bool addsAreAlone() const;
  core::OpId around(core::Builder& b);
  void give(std::span<const core::ValueId> columns, std::span<const core::ValueId> sums);
  core::Operands emitIteration(core::Builder& in, std::span<const core::ValueId> begun) const;
  std::vector<core::ValueId> enterParams(core::Builder& in, std::span<const core::ValueId> begun) const;
  core::Cloner placesAt(core::Builder& in, core::ValueId index) const;
  std::vector<core::ValueId> carryOn(core::Builder& in, const core::Cloner& places, const Iteration& made,
                                     std::span<const core::ValueId> carried, const core::Path& rows,
                                     std::span<const core::ValueId> at) const;
  core::TypeId stacked(core::DimId extent, core::TypeId row) const;
  void readBy(core::Builder& b);
  void readResult(core::Builder& in, size_t k);
  core::ValueId rowIndex(core::Builder& in) const;

  // Rows in the order of falling trip counts (emit_prefixes.cpp).
  struct Prefixes;
  struct Prefix;
  core::OpId aroundPrefixes(core::Builder& b);
  bool endTogether() const;
  Prefixes prefixes(core::Builder& b) const;
  Prefix emitPrefix(core::Builder& in, const Prefixes& p, core::ValueId index,
                    std::span<const core::ValueId> carried, std::vector<core::ValueId> sums) const;
  void placeFromEnd(core::Builder& in, core::Cloner& copy, core::ValueId left) const;
  core::ValueId rankOf(core::Builder& b, const Prefixes& p) const;
  void readStack(core::Builder& in, size_t k);
  core::ValueId placeInStack(core::Builder& b, core::ValueId iteration) const;
  void readStacked(core::RegionId region);

  // Rows that go on (emit_compaction.cpp).
  struct Going;
  core::OpId aroundCompaction(core::Builder& b);
  void emitCompacted(core::Builder& in, std::span<const core::ValueId> params) const;
  core::ValueId conditions(core::Builder& in, const Going& now) const;
  core::ValueId those(core::Builder& in, core::ValueId goes, core::DimId size, bool goOn) const;
  std::vector<core::ValueId> storeEnded(core::Builder& in, const Going& now, core::ValueId goes,
                                        core::DimId left, std::span<const core::ValueId> ended) const;
  core::ValueId positions(core::Builder& b, core::DimId count) const;
  core::TypeId resized(core::TypeId array, core::DimId rows) const;

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
  std::vector<size_t> columns_;      ///< the carries that are no sums
  std::vector<core::ValueId> given_; ///< by results of the loop: what the loop around gives for them
  // Of own trip counts: by position, where the row stands in the order; by iteration, where stacked rows
  // begin; the greatest count, where rows end together.
  core::ValueId rank_, from_, ends_;
  core::ValueId stackRank_; ///< in the body of the nest: where its row stands in the order
};

} // namespace melix::transforms
