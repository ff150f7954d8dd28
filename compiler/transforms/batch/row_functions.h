#pragma once
// Functions that rows of a nest call, and their instances over rows.
//
// The instance of `f` for the parameters that vary with rows takes these as arrays of rows, and all others as
// they are. It gives arrays of rows:
//
//   fn f.rows [D, m] (%xs: f32[m, D], %w: f32[D, D]) -> (f32[m, D]) {
//     %y = nest (i: m) -> collect[i] { %x = get %xs[%i]   … the body of f … }   yield %y }

#include "core/ir/build.h"
#include "transforms/batch/batching_log.h"

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace melix::core {
class Effects;
}

namespace melix::transforms {

class RowFunctions {
public:
  RowFunctions(core::Module& m, const core::Effects& effects);

  /// Whether a function, or one that it calls, has a product of a row and a matrix.
  bool hasProduct(core::FunctionId f) const { return factOf(f, &Facts::hasProduct); }
  /// Whether an op, or any in its regions, has an effect other than that a `while` does not end.
  bool hasEffect(const core::Function& f, core::OpId op) const;
  /// The same for an effect that keeps its place among the effects of other rows: checks do not in a function
  /// that is speculated.
  bool isOrdered(core::FunctionId f, core::OpId op) const;
  /// Whether an op, or any in its regions, has an effect other than checks that `canGiveChecks`.
  bool hasOther(const core::Function& f, core::OpId op) const;
  /// A refusal if an op of the region, or any in the regions of one, may not end.
  Refused endlessIn(const core::Function& f, core::RegionId region) const;

  bool isRecursive(core::FunctionId f) const { return factOf(f, &Facts::isRecursive); }

  /// Whether there may be an instance: it has a product and no effect, no results of sizes of its own, no
  /// parameters that it updates but accumulators, no rule for its derivative, and is not declared to stay
  /// called. It may have checks if it is called from where these are speculated.
  bool mayBatch(core::FunctionId f, bool isSpeculated) const {
    return hasProduct(f) && !refusalOf(f, isSpeculated);
  }
  /// Why there is no instance of a function that has a product.
  Refused refusalOf(core::FunctionId f, bool isSpeculated) const;
  /// The first effect of an op that `isOrdered`, in its regions or in functions that it calls, as a reason to
  /// leave the op with its row.
  Refusal refusalOf(core::FunctionId f, core::OpId op) const;
  /// Invalid beyond `mostInstances` of a function. An instance with checks is speculated too.
  core::FunctionId instance(core::FunctionId f, const std::vector<bool>& varies);

  /// The body of a function is incomplete until it is left: it has no instance meanwhile.
  void enter(core::FunctionId f) { open_.insert(f); }
  void leave(core::FunctionId f) { open_.erase(f); }

  /// From here on checks of the function run in any order.
  void speculate(core::FunctionId f) { speculated_.insert(f); }
  bool isSpeculated(core::FunctionId f) const { return speculated_.contains(f); }
  const std::set<core::FunctionId>& speculated() const { return speculated_; }

private:
  struct Facts {
    bool hasProduct = false, hasEffect = false, hasOther = false, isRecursive = false;
    bool operator==(const Facts&) const = default;
  };
  using Test = bool (RowFunctions::*)(const core::Function&, core::OpId) const;
  bool anyWithin(const core::Function& f, core::OpId op, Test own, bool Facts::* ofCallee) const;
  bool factOf(core::FunctionId f, bool Facts::* fact) const {
    return f.index < facts_.size() && facts_[f.index].*fact;
  }
  bool hasOwnProduct(const core::Function& f) const;
  bool hasOwnEffect(const core::Function& f, core::OpId op) const;
  bool hasOwnOther(const core::Function& f, core::OpId op) const;
  using FunctionSet = std::unordered_set<core::FunctionId>;
  Refused findEffect(const core::Function& f, core::OpId op, bool isSpeculated, FunctionSet& seen) const;
  Refused findEffect(core::FunctionId f, bool isSpeculated, FunctionSet& seen) const;
  core::FunctionId make(core::FunctionId f, const std::vector<bool>& varies);
  void runRows(core::Builder& b, core::Cloner& copy, const core::Function& from,
               const std::vector<bool>& varies, core::DimId rows) const;

  static constexpr size_t mostInstances = 4;
  core::Module& m_;
  const core::Effects& effects_;
  std::vector<Facts> facts_;                                ///< by functions that were there at the beginning
  std::unordered_map<std::string, core::FunctionId> byKey_; ///< the same functions
  std::map<core::FunctionId, std::map<std::vector<bool>, core::FunctionId>> instances_;
  std::set<core::FunctionId> speculated_, open_;
};

} // namespace melix::transforms
