#pragma once
// Calls of instances over rows (row_functions.h) in one function, once all of it is batched. Calls of one
// instance that do not need each other's results are one call of more rows: of the calls in a recursion,
// those in all arms of a branch. A recursive function is called for `mostRows` rows at a time, so its memory
// grows with the depth only. No function is called for no rows: recursion would not end.
//
//   before:  %r = call @f.rows %as, %w dims [m]
//            %s = call @f.rows %bs, %w dims [k]
//   after:   %cs = nest (i: m + k) -> collect[i] { if %i < %m { get %as[%i] } { get %bs[%i - %m] } }
//            %t = if %m + %k > 0 { call @f.rows %cs, %w dims [m + k] } { %any }
//            %r = nest (i: m) -> collect[i] { get %t[%i] }
//            %s = nest (i: k) -> collect[i] { get %t[%i + %m] }

#include "core/ir/build.h"

#include <map>
#include <set>
#include <unordered_set>

namespace melix::transforms {

class RowFunctions;

struct RowCall {
  core::OpId op;            ///< the call; or the nest of one point around it, in which accumulators go on
  core::OpId call;          ///< its last size is the number of rows
  std::vector<bool> varies; ///< the operands that are arrays of rows
  bool isRecursive = false;
};

class RowCalls {
public:
  RowCalls(core::Module& m, core::FunctionId f, const RowFunctions& functions)
      : m_(m), f_(f), functions_(functions) {}

  void add(core::RegionId region, RowCall call) { calls_[region].push_back(std::move(call)); }
  /// Merges and guards the calls. Requires that no ops of the function move any more.
  void finish();

private:
  struct Group;
  core::Function& fn() const { return m_.functions[f_]; }
  core::DimId rowsOf(const RowCall& c) const { return fn().ops[c.call].dims.back(); }
  bool isSum(core::ValueId v) const;
  bool isSame(const RowCall& a, const RowCall& b) const;
  bool addsToSame(const RowCall& a, const RowCall& b) const;
  bool isSameValue(core::ValueId a, core::ValueId b) const;
  using Pairs = std::set<std::pair<core::ValueId, core::ValueId>>;
  bool isSameValue(core::ValueId a, core::ValueId b, Pairs& seen) const;
  std::vector<RowCall> merged(core::RegionId region, std::vector<RowCall> calls);
  Group groupOf(core::RegionId region, const RowCall& first, std::span<const RowCall> calls) const;
  RowCall merge(core::RegionId region, const Group& group);
  RowCall callOf(core::Builder& b, const RowCall& first, core::DimId rows,
                 std::span<const core::ValueId> columns) const;
  std::vector<core::ValueId> concatenate(core::Builder& b, std::span<const RowCall> calls,
                                         core::DimId rows) const;
  void readParts(core::Builder& b, std::span<const RowCall> calls, const RowCall& whole) const;
  void passSums(core::Builder& b, const RowCall& c) const;
  std::vector<core::ValueId> columnsOf(const RowCall& c) const;
  std::vector<core::ValueId> sumsOf(const RowCall& c) const;
  size_t countSums(const RowCall& c) const;

  core::TypeId withRows(core::TypeId column, core::DimId rows) const;
  std::vector<core::TypeId> resultTypes(const core::Op& call, core::DimId rows) const;
  void guard(core::RegionId region, const RowCall& c) const;
  core::Operands nothing(core::Builder& b, const core::Op& call, core::DimId rows) const;
  core::OpId guarded(core::Builder& b, const core::Op& call, core::OpId of) const;
  core::OpId inParts(core::Builder& b, const core::Op& call, core::OpId of,
                     const std::vector<bool>& varies) const;
  core::Operands append(core::Builder& b, core::Op call, core::OpId of, core::DimId rows) const;

  static constexpr int64_t mostRows = 512; ///< of a call of a recursive function
  core::Module& m_;
  const core::FunctionId f_;
  const RowFunctions& functions_;
  std::map<core::RegionId, std::vector<RowCall>> calls_; ///< in the order in which they were made
};

} // namespace melix::transforms
