#pragma once
// Activity analysis: finds the leaves of values that depend on the differentiated values, through calls and
// loops (fixpoints).
//
// Where a float becomes an integer the dependency ends; a dependency that ends so and comes back into a
// result as a float is `lost` and reported (rule 42). Selection (comparisons, indices, sizes, trip counts)
// does not flow.

#include "transforms/derivatives/differentiable_leaves.h"

#include <iterator>
#include <map>

namespace melix::transforms {

/// The causes that stop a derivative, for the driver's diagnostics.
enum class AdProblemKind : uint8_t {
  LostDerivative, ///< float -> integer -> float
  Effect,         ///< input or output in a differentiated function
  Independent,    ///< the result cannot depend on the differentiated values
  Unsupported,    ///< a construct without a derivative here; `reason` says which
};
struct AdProblem {
  AdProblemKind kind;
  std::vector<LocId> path; ///< from the place that asked for the derivative inwards
  std::string reason;
};

/// Where a dependency ended: at the op that defines `at` (a conversion, or a call in which it happened), or
/// before the function began if `at` is a parameter. `slot` is that of `at`.
struct Loss {
  ValueId at;
  uint32_t slot = 0;
  LocId loc;
};

/// The kind of value that carries a loss on. A float gets a loss from an integer or a text only by an op, not
/// from one that is beside it in an enum.
enum class Carrier : uint8_t { Integer, Float, Text };
inline constexpr Carrier carriers[] = {Carrier::Integer, Carrier::Float, Carrier::Text};
/// The slot of a part of a value for the losses that such a carrier carries.
inline uint32_t lossSlot(size_t part, Carrier carrier) {
  return static_cast<uint32_t>(std::size(carriers) * part) + static_cast<uint32_t>(carrier);
}

/// Activity of one function for given active leaves of its parameters.
struct FunctionActivity {
  FunctionId function;
  std::vector<LeafBits> params;
  std::vector<LeafBits> results;
  std::vector<LeafBits> lostParams, lostResults; ///< by slot: the losses, of integers too
  std::unordered_map<ValueId, LeafBits> values;
  std::unordered_map<ValueId, std::vector<Loss>> lost; ///< by slot; a loss without `at` is none
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

/// Whether a rounded float depends on its operand. It does, with the derivative 0, so no tangent needs to be
/// carried for it.
enum class RoundingKind : uint8_t { Ends, Flows };

class Activity {
public:
  Activity(Module& m, Leaves& leaves, RoundingKind rounding = RoundingKind::Ends)
      : module_(m), leaves_(leaves), parts_(m.types, LeafKind::All), rounding_(rounding) {}
  const FunctionActivity& of(FunctionId f, const std::vector<LeafBits>& params,
                             std::vector<LeafBits> lostParams = {});
  /// The calls that lead to where a dependency was lost that comes back as a float in result `result`, and
  /// that place; empty if there is none.
  std::vector<LocId> lostPath(const FunctionActivity& act, size_t result);

private:
  friend class ActivityWalk;
  using Key = std::tuple<FunctionId, std::vector<LeafBits>, std::vector<LeafBits>>;
  FunctionActivity& entry(const Key& key);
  Loss followLoss(const FunctionActivity& act, ValueId v, uint32_t slot, std::vector<LocId>& path);
  size_t lossSlots(TypeId type) { return lossSlot(parts_.count(type), carriers[0]); }
  FunctionActivity& ofCall(const FunctionActivity& act, const Op& call);

  Module& module_;
  Leaves& leaves_;
  Leaves parts_; ///< the parts that losses are recorded for
  RoundingKind rounding_;
  std::map<Key, FunctionActivity> table_;
};

} // namespace melix::transforms
