#pragma once
// Batches a call in the body of a nest over rows: the instance of the callee over rows is called once, with
// arrays of the arguments that vary (row_functions.h). The call is merged with others and guarded later
// (row_calls.h).
//
//   before:  %y = nest (b: B) -> collect[b] { … %r = call @f %x, %w … %r … }
//   after:   %xs = nest (b: B) -> collect[b] { … %x … }
//            %rs = call @f.rows %xs, %w dims [B]
//            %y = nest (b: B) -> collect[b] { %r = get %rs[%b] … %r … }

#include "transforms/batch/batching_log.h"
#include "transforms/batch/row_calls.h"
#include "transforms/batch/rows.h"

namespace melix::transforms {

class Costs;
class RowFunctions;

class BatchedCall {
public:
  BatchedCall(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId call,
              const core::Effects& effects, const Costs& costs, RowFunctions& functions);

  /// None if the callee has an instance and its arguments can be stored. Requires that nothing before
  /// the call in the nest has an effect.
  Refused refusal();
  /// Appends the ops before the nest. Gives the call of all rows.
  RowCall leave(core::Builder& b);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  const core::Op& op() const { return fn().ops[call_]; }
  std::vector<bool> variesOf(const AxisVariance& body) const;
  std::vector<core::ValueId> arguments() const;
  bool keepsMatrices(std::span<const core::ValueId> args) const;
  bool isShared(core::ValueId v) const;
  std::vector<core::ValueId> collectArguments(core::Builder& b) const;
  std::vector<core::TypeId> resultTypes() const;
  core::OpId endPoint(core::NestBuilder& point, std::span<const uint32_t> numbers, core::OpId call);
  void readBy(const core::Op& made, std::span<const uint32_t> numbers);

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_, call_;
  const core::RegionId body_;
  const core::Effects& effects_;
  const Costs& costs_;
  RowFunctions& functions_;
  const Rows rows_;
  std::vector<bool> varies_; ///< by arguments
  core::FunctionId callee_;
};

} // namespace melix::transforms
