#pragma once
// Shared state of expand_derivatives: companions of functions, made on demand and memoised.
//
//   jvp(f, active leaves)            f_jvp: (parameters, tangents of active leaves)
//                                      -> (results, tangents of active leaves)
//   linearise(g, linear parameters)  g is linear in these.
//                                    f_fwd: its other results, and a Saved record for the linear part
//                                    f_bwd: the transposed linear part, adding into cotangents it is given
//
// Shells are made at once and bodies from a queue, so recursive groups need no special case.

#include "core/ir/flow.h"
#include "transforms/derivatives/activity.h"

#include <deque>
#include <optional>
#include <set>
#include <unordered_set>

namespace melix::transforms {

struct JvpCompanion {
  FunctionId source, function;
  std::vector<LeafBits> params, results;
  /// Of tangents whose type does not tell their sizes: the value, and the leaf of it, that they follow.
  struct Followed {
    ValueId value;
    std::vector<uint32_t> path;
  };
  std::unordered_map<ValueId, Followed> primalOf;
  /// By the tangent with the place replaced: the old value at the place of a `set` of such a type.
  std::unordered_map<ValueId, Followed> overwritten;
  /// Products of a tangent and a factor of a product: in reverse a factor 0 gives 0, whatever its cotangent
  /// is.
  std::unordered_set<ValueId> absorbing;
  types::DimSubst dimOf; ///< sizes that opening a tangent defines: sizes of the value, the same numbers
};

/// A value or a packed group of values of a region of g, saved once an execution of the region.
struct ResidualItem {
  TypeId type;                 ///< in terms of g's dims
  std::vector<ValueId> values; ///< one, or the values of the packed tuple
  std::vector<DimSym> hidden;  ///< dims decided inside the region; not empty: `pack(tuple(values))`
};

/// The residuals that the forward companion keeps for the backward one: for each region its items, and for
/// each structured op the values that carry the items out of it, as values of g that no op defines.
struct OpResidual {
  /// If/Match: an enum, or the numbers of all arms of an If; For/Nest: an array an item; While: count, Lists
  /// (item_lists.h); Call: the callee's items, or its record where that is in a box or not known yet. A value
  /// that is available in g represents itself.
  std::vector<ValueId> carriers;
  bool whole = false; ///< of a Call: the record, which is in a box where the carrier's type is an enum
  DimSym count;       ///< For that had no collects and whose count is no size: the extent of the arrays
};
struct ResidualPlan {
  std::unordered_map<RegionId, std::vector<ResidualItem>> regions;
  /// Values of bodies of nests that are read where the nest collects them, rather than kept.
  std::unordered_set<ValueId> collected;
  std::unordered_map<OpId, OpResidual> ops;
};

/// How the cotangent of a linear parameter is passed.
enum class CotangentKind : uint8_t {
  /// Of values without arrays, and of values that a result is an update of: that result's cotangent, updated.
  Return,
  Inout,      ///< of an inout pair: the result's cotangent goes in, the parameter's comes back in its place
  Accumulate, ///< of values with arrays or lists: added into an extra operand, which is returned
  Reader,     ///< parameter of Acc type: its result's cotangent is read, nothing comes back
};

/// Whether a tangent of the type has arrays or lists: a fresh one would cost their size.
bool holdsArrays(const types::TypeStore& types, TypeId t);

/// The values of a function that depend on its parameters `params`, through calls and loops.
struct LinearValues {
  FunctionId function;
  std::vector<bool> params, results;
  std::unordered_set<ValueId> values;
  /// By result: the parameters that hold arrays and whose value it is, on some path, but for places written
  /// since. In reverse the result's cotangent becomes theirs.
  std::vector<std::set<uint32_t>> updates;
  bool done = false;
};

struct Linearisation {
  FunctionId source;        ///< g
  std::vector<bool> linear; ///< parameters of g
  std::vector<bool> linearResults;
  std::vector<CotangentKind> kinds; ///< of the linear parameters, in order
  RecordId saved, box;
  FunctionId forward;
  std::map<std::vector<bool>, FunctionId> backward; ///< by: which Accumulate parameters are Acc(T)
  std::vector<bool> first;                          ///< of these, the one that plans the saved values
  const LinearValues* values = nullptr;
  ResidualPlan plan;
  std::unordered_map<ValueId, RegionId> carrierHome; ///< region of g in which a carrier of the plan stands
  /// Carriers that are parts of values of g: the read that gives each.
  std::unordered_map<ValueId, Op> readOf;
  /// An item that the caller has anyway: a parameter, a part of one, or a result.
  struct AtHand {
    /// Of the path: a number, or the number of a parameter or of another item.
    struct Index {
      enum class Kind : uint8_t { Constant, Param, Item } kind;
      int64_t value;
    };
    bool isResult;
    uint32_t number;
    Path path;
    std::vector<Index> indices;
    bool exact = false; ///< it has to have its bits
  };
  std::vector<std::optional<AtHand>> atHand; ///< by field of the record
  bool planned = false;
};

class Ad {
public:
  explicit Ad(Module& m) : module(m), leaves(m.types), activity(m, leaves) {}

  Module& module;
  Leaves leaves;
  Activity activity;
  std::vector<AdProblem> problems;

  const JvpCompanion& jvp(FunctionId f, const std::vector<LeafBits>& params);
  Linearisation& linearise(FunctionId g, const std::vector<bool>& linearParams);
  FunctionId backward(Linearisation& lin, const std::vector<bool>& accs);
  /// Whether a caller keeps the record of such a call in a box rather than by its items: a large one, for
  /// items would double with each function that calls the one below twice. A caller in a circle of calls does
  /// so too.
  bool isBoxed(const Linearisation& callee, bool isInBody);
  /// The box, an enum of one case.
  RecordId boxOf(Linearisation& lin);
  /// Bodies of everything asked for so far.
  void finish();

  /// The value whose size the tangent `t` of companion `g` has; none when it is not recorded.
  const JvpCompanion::Followed* primalOf(FunctionId g, ValueId t) const;
  const JvpCompanion::Followed* overwritten(FunctionId g, ValueId t) const;
  /// Whether `t` of companion `g` is the product of a tangent and a factor of a product.
  bool isAbsorbing(FunctionId g, ValueId t) const;
  /// By the function that `prepare` made: the steps of its loops that stand for products.
  std::unordered_map<FunctionId, std::unordered_set<ValueId>> productSteps;
  /// The dims that sizes of tangents in companion `g` stand for.
  const types::DimSubst& dimsOf(FunctionId g) const;
  void refuse(LocId loc, std::string reason);
  /// `loc` marked as code of a derivative.
  LocId derived(LocId loc);
  DimSym freshDim(DimSym like);

  const LinearValues& linearValues(FunctionId g, const std::vector<bool>& params);
  /// Whether a slope of the function's ops may be infinite where its value is not: slopes of quotients, roots
  /// and elementary functions, also in its callees.
  bool isSteep(FunctionId f);
  bool isSteep(const Function& f, RegionId region);

private:
  friend class LinearWalk;
  LinearValues& linearEntry(FunctionId g, const std::vector<bool>& params);
  std::map<std::pair<FunctionId, std::vector<bool>>, LinearValues> linearValues_;
  std::unordered_map<FunctionId, bool> steep_; ///< see isSteep
  std::map<std::pair<FunctionId, std::vector<LeafBits>>, JvpCompanion> jvps_;
  std::unordered_map<FunctionId, const JvpCompanion*> companions_; ///< by the function made
  std::map<std::pair<FunctionId, std::vector<bool>>, Linearisation> linearisations_;
  std::unordered_map<LocId, LocId> derived_;
  std::deque<JvpCompanion*> jvpQueue_;
  void plan(Linearisation& root);
  std::vector<Linearisation*> calleesOf(const Linearisation& lin);
  std::deque<std::pair<Linearisation*, std::vector<bool>>> backwardQueue_;
  std::vector<Linearisation*> forwardQueue_;
};

/// `f`, or a copy of it in which reductions that have no rule are loops.
FunctionId prepare(Ad& ad, FunctionId f);

/// Whether sizes of a tangent are known from the value alone: lists, packs, arrays of such.
bool sizedByValue(const types::TypeStore& types, TypeId t);
/// A list of `n` zeros, whose sizes their type determines.
ValueId zeroList(Emit& e, TypeId t, ValueId n);
/// A tangent at another tangent type of the same value: the checker's type, in which functions have no
/// tangent, or the type that functions have as enums.
ValueId restated(Emit& e, Leaves& leaves, TypeId to, ValueId tangent);
/// A zero of a tangent type, with the sizes of the value it follows.
ValueId zeroLike(Emit& e, Leaves& leaves, TypeId tangentType, ValueId primalLeaf);

/// Fills in the bodies of the shells (jvp.cpp, backward.cpp, forward.cpp).
void buildJvp(Ad& ad, JvpCompanion& companion);
void buildBackward(Ad& ad, Linearisation& lin, const std::vector<bool>& accs);
void buildForward(Ad& ad, Linearisation& lin);

} // namespace melix::transforms
