#pragma once
// One function whose checks become its last result (checks_to_values.h).

#include "core/ir/build.h"
#include "support/function_ref.h"

#include <unordered_set>

namespace melix::transforms {

class CheckedFunction {
public:
  /// `callee`: the function to call in the place of one that may fail, which gives whether its checks held;
  /// none for a function that cannot fail.
  CheckedFunction(core::Module& m, core::FunctionId f, FunctionRef<core::FunctionId(core::FunctionId)> callee)
      : m_(m), f_(f), callee_(callee) {}

  void convert();

private:
  /// The results of a region as the code around it sees them: `types` mention `sizes`, which the region
  /// gives.
  struct Outside {
    std::vector<core::TypeId> types;
    std::span<const core::DimSym> sizes;
    std::span<const core::ValueId>
        skipped; ///< given first where the region does not begin, of the same types
  };
  using Ops = std::span<const core::OpId>;

  core::Function& fn() const { return m_.functions[f_]; }
  core::Builder builder(core::RegionId r, core::OpId at) const { return {m_, f_, r, fn().ops[at].loc}; }
  bool fails(core::OpId op) const { return failing_.contains(op); }
  bool findFailing(core::RegionId r);
  void rotate(core::RegionId r);
  void rotateWhile(core::RegionId r, core::OpId loop);
  bool isSafe(core::OpId op) const;

  core::ValueId region(core::RegionId r, const Outside& outside, core::ValueId begins = {});
  core::ValueId split(core::RegionId r, Ops rest, core::ValueId holds, const Outside& outside);
  void giveNothing(core::Builder& b, Ops rest, const Outside& outside) const;
  core::ValueId op(core::RegionId r, core::OpId id);
  core::ValueId check(core::RegionId r, core::OpId id);
  core::ValueId call(core::RegionId r, core::OpId id);
  core::ValueId choice(core::RegionId r, core::OpId id);
  core::ValueId loop(core::RegionId r, core::OpId id);
  core::ValueId nest(core::RegionId r, core::OpId id);
  void guardCondition(core::OpId loop);
  core::ValueId addResult(core::OpId id, size_t at) const;

  core::Module& m_;
  const core::FunctionId f_;
  const FunctionRef<core::FunctionId(core::FunctionId)> callee_;
  std::unordered_set<core::OpId> failing_; ///< ops that may fail, or have regions with such
};

} // namespace melix::transforms
