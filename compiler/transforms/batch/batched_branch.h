#pragma once
// Compacts a branch in the body of a nest over rows (batch_rows.h). An arm with a product of a row and a
// matrix, or with a call that is batched, runs over the rows that take it. These are put together first.
//
//   before:  %y = nest (b: B) -> collect[b] {
//              %c = cmp gt (get %x[%b, 0]), 0
//              %r = if %c { %u = nest (j: D, k: D) -> keep[j] sum { … get %h[%b, %k] … get %w[%k, %j] … }
//                           yield %u } { yield %z }
//              … %r … }
//   after:   %on = nest (b: B) -> filter defines [m] { yield %c, %b }
//            %u = nest (i: m) -> collect[i] { %b = get %on[%i]   nest (j: D, k: D) -> keep[j] sum { … } }
//            %n = for collects 1 B, 0 { … }                // by row: how many before it are in %on
//            %y = nest (b: B) -> collect[b] { %r = if %c { yield (get %u[get %n[%b]]) } { yield %z }   … %r …
//            }
//
// Where all rows take the same arm the branch stands before the nest, with a nest over all rows in each arm.
//
// A value of its row that a compacted arm needs becomes an array of all rows before, if it costs more than a
// read. Other arms stay where they are. An arm of a case of an enum opens its payload for the rows that take
// it. Of a value that an arm builds at its end, as a case of an enum, and that rows open, the parts are
// stored.

#include "support/function_ref.h"
#include "transforms/batch/batching_log.h"
#include "transforms/batch/built_values.h"
#include "transforms/batch/rows.h"
#include "types/leaves.h"

namespace melix::transforms {

class Costs;

class BatchedBranch {
public:
  /// `seeds`: ops within the branch for which an arm is compacted.
  BatchedBranch(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId branch,
                std::span<const core::OpId> seeds, const core::Effects& effects, const Costs& costs);

  /// None if an arm has a seed, and all that arms need and give can be stored. Requires that nothing before
  /// the branch in the nest has an effect.
  Refused refusal();
  /// Whether all rows take the same arm, once there is no refusal.
  bool isSame() const { return isSame_; }
  /// Appends the ops before the nest.
  void compact(core::Builder& b);

private:
  struct Arm {
    size_t number;                               ///< of its region
    std::unordered_map<core::OpId, bool> varies; ///< whether ops of the region differ between rows
    core::Operands given;                        ///< its yields, once `varies` is known
    core::ValueId rows;                          ///< the row-major positions of the rows that take it
    std::vector<core::ValueId> results;          ///< arrays of the values that it computes for these rows
    core::ValueId before;                        ///< by row: how many of `rows` come before it
  };
  core::Function& fn() const { return m_.functions[f_]; }
  const core::Op& op() const { return fn().ops[branch_]; }
  Arm armOf(size_t number) const;
  void findVarying(const AxisVariance& body, Arm& arm) const;
  bool continuesSums() const;
  bool knowsAllSizes(const AxisVariance& body) const;
  core::ValueId tested() const { return op().operands[0]; }

  std::vector<core::ValueId> needs() const;
  std::vector<core::ValueId> needsOf(const Arm& arm) const;
  std::vector<core::ValueId> sumsOf(const Arm& arm) const;
  std::vector<core::ValueId> stored() const;
  core::Cloner rowAt(core::Builder& in, core::ValueId position, std::span<const core::ValueId> values) const;
  std::vector<types::Leaf> leavesOf(core::ValueId payload) const;
  core::ValueId isCase(core::Builder& in, core::ValueId tested, const Arm& arm) const;
  void open(core::Builder& in, core::Cloner& copy, const Arm& arm) const;
  core::OpId matchOf(core::Builder& in, core::ValueId tested, const std::vector<core::TypeId>& types,
                     FunctionRef<core::Operands(core::Builder&, size_t)> give) const;
  core::ValueId takes(core::Builder& in, core::ValueId tested, const Arm& arm) const;
  void findRows(core::Builder& b, Arm& arm) const;
  void findOpened();
  bool isMadeBy(const Arm& arm, core::ValueId v) const;
  PartKind kindOf(const Arm& arm, core::ValueId v) const;
  std::vector<core::ValueId> partsOf(const Arm& arm, size_t result) const;
  void runArm(core::Builder& b, Arm& arm) const;
  void countRows(core::Builder& b);
  void readArms();
  void leave(core::Builder& b, core::ValueId tested);
  core::Operands runForAll(core::Builder& b, const Arm& arm, std::span<const uint32_t> numbers) const;
  void readAll(std::span<const core::ValueId> arrays);

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_, branch_;
  const core::RegionId body_;
  const core::Effects& effects_;
  const Costs& costs_;
  const Rows rows_;
  bool isSame_ = false; ///< whether all rows take the same arm: `arms_` are all then
  std::vector<Arm> arms_;
  std::vector<bool> isOpened_;                 ///< by results
  std::vector<std::optional<uint32_t>> sumOf_; ///< by results: the accumulator that one continues
};

} // namespace melix::transforms
