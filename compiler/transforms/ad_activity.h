#pragma once
// Activity: which leaves of which values depend on what is differentiated, through calls and loops (fixpoints).
//
// Where a float becomes an integer the dependency ends; a dependency that ends so and comes back into a result as a
// float is `lost` and reported (rule 42). Selection (comparisons, indices, sizes, trip counts) does not flow.

#include "transforms/ad_leaves.h"

#include <map>

namespace melix::transforms {

/// What a derivative cannot go through, for the driver's diagnostics.
enum class AdProblemKind : uint8_t {
  LostDerivative, ///< float -> integer -> float
  Effect,         ///< input or output in a differentiated function
  Independent,    ///< the result cannot depend on what is differentiated
  Unsupported,    ///< a construct without a derivative here; `reason` says which
};
struct AdProblem {
  AdProblemKind kind;
  std::vector<LocId> path; ///< from the place that asked for the derivative inwards
  std::string reason;
};

/// Activity of one function for given active leaves of its parameters.
struct FunctionActivity {
  FunctionId function;
  std::vector<LeafBits> params;
  std::vector<LeafBits> results;
  std::vector<bool> lostParams, lostResults; ///< integers whose dependency was lost
  std::unordered_map<ValueId, LeafBits> values;
  std::unordered_map<ValueId, LocId> lost;   ///< value -> where the dependency was lost
  std::vector<AdProblem> problems;
  bool done = false;

  bool active(ValueId v) const {
    auto it = values.find(v);
    if (it == values.end()) return false;
    for (bool b : it->second)
      if (b) return true;
    return false;
  }
};

class Activity {
public:
  Activity(Module& m, Leaves& leaves) : module_(m), leaves_(leaves) {}
  const FunctionActivity& of(FunctionId f, const std::vector<LeafBits>& params, std::vector<bool> lostParams = {});

private:
  friend class ActivityWalk;
  using Key = std::tuple<FunctionId, std::vector<LeafBits>, std::vector<bool>>;
  FunctionActivity& entry(const Key& key);

  Module& module_;
  Leaves& leaves_;
  std::map<Key, FunctionActivity> table_;
};

} // namespace melix::transforms
