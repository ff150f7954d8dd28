#pragma once
// Batches a call in the body of a nest over rows: the instance of the callee over rows is called once, with
// arrays of the arguments that vary (row_functions.h). Calls of one function that do not need each other's
// results are one call of more rows. A recursive function is called for `mostRows` rows at a time, so its
// memory grows with the depth only.
//
//   before:  %y = nest (b: B) -> collect[b] { … %r = call @f %x, %w … %r … }
//   after:   %xs = nest (b: B) -> collect[b] { … %x … }
//            %rs = call @f.rows %xs, %w dims [B]
//            %y = nest (b: B) -> collect[b] { %r = get %rs[%b] … %r … }

#include "transforms/batch/batching_log.h"
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
  /// Appends the ops before the nest.
  void leave(core::Builder& b);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  const core::Op& op() const { return fn().ops[call_]; }
  bool isSame(core::OpId other, const AxisVariance& body) const;
  std::vector<bool> variesOf(core::OpId call, const AxisVariance& body) const;
  void findCalls(const AxisVariance& body);
  std::vector<core::ValueId> collectArguments(core::Builder& b, core::DimId rows) const;
  bool isShared(core::ValueId v) const;
  std::vector<core::ValueId> arguments() const;
  std::vector<core::ValueId> endPoint(core::NestBuilder& point, std::span<const uint32_t> numbers,
                                      std::span<const core::ValueId> given);
  std::vector<core::TypeId> resultTypes(core::DimId rows) const;
  core::Operands nothing(core::Builder& b, const core::Op& made, core::DimId rows) const;
  core::Operands append(core::Builder& b, const core::Op& made, core::DimId rows) const;
  std::vector<core::ValueId> guarded(core::Builder& b, const core::Op& made, core::DimId rows) const;
  std::vector<core::ValueId> inParts(core::Builder& b, const core::Op& made, core::DimId rows) const;
  void readBy(std::span<const core::ValueId> results);

  static constexpr int64_t mostRows = 512; ///< of a call of a recursive function
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
  std::vector<core::OpId> calls_; ///< that become one
};

} // namespace melix::transforms
