#pragma once
// Internal to simplify: one round over a function, in which each op is looked at after its operands.
//
// fold_conditions.cpp folds comparisons and negations, fold_branches.cpp branches and loops, fold_values.cpp
// other values; simplify.cpp walks the regions and finds common subexpressions.

#include "core/analysis/predicate.h"
#include "core/analysis/sharing.h"
#include "core/ir/uses.h"
#include "transforms/walks/cse_table.h"

#include <optional>

namespace melix::transforms {

using namespace core;

class Folder {
public:
  Folder(Module& m, FunctionId id);
  bool run();

private:
  /// The ops of a region that stay, in order.
  struct Passed {
    RegionId region;
    std::vector<OpId> ops;
  };

  // The walk.
  const Op* defOf(ValueId v, OpKind kind) const;
  std::optional<uint64_t> constantOf(ValueId v) const;
  bool isConstant(ValueId v, int64_t value) const;
  void region(RegionId r);
  void splice(const std::vector<OpId>& list, Passed& out);
  bool isAxis(ValueId v) const;
  /// Folds one op. Whether it is gone: its results became other values, or the ops of a region took its
  /// place.
  bool step(OpId id, Passed& out);
  /// Puts the ops of a region in the place of the op that it belongs to. Returns its terminator, which stays.
  OpId open(RegionId r, Passed& out);
  /// Puts the ops that `write` appends before an op. The op may use them already.
  template <class Write>
  void make(OpId before, Passed& out, const Write& write) {
    Builder b(m_, id_, scratch_, f_.ops[before].loc);
    write(b);
    const std::vector<OpId> made = std::move(f_.regions[scratch_].ops);
    f_.regions[scratch_].ops.clear();
    for (OpId each : made) uses_.enter(each, out.region);
    splice(made, out);
    changed_ = true;
  }
  void replace(const Op& op, size_t k, ValueId by) { uses_.replace(op.results[k], by); }
  /// Replaces a symbol by a dimension, in which symbols may occur that were replaced before.
  void replaceDim(DimSym s, DimId by) { dims_.insert_or_assign(s, types_.dims.substitute(by, dims_)); }
  void becomeZero(OpId id);
  void becomeConstant(OpId id, uint64_t bits);
  void becomeNot(OpId id, ValueId condition);
  bool common(OpId id);
  bool isComparable(const Op& op) const;

  // Conditions.
  /// In an arm of a branch its condition is decided, and so are the conditions of which it is a conjunction
  /// or a disjunction. In the region of one number the operand of the match is decided.
  void enterArm(RegionId r);
  void decide(ValueId condition, bool holds);
  /// The known value of something in the branches around: its bits, by it or a comparison that is its
  /// negation.
  std::optional<uint64_t> decidedBits(ValueId v) const;
  bool areOpposites(ValueId a, ValueId b) const;
  /// Operands that are conditions decided by a branch around become constants, and so does a number that is
  /// matched again.
  void useDecided(OpId id, Passed& out);
  /// Folds a comparison that is always the same. `==` and `!=` with an end of the range of an i64 become
  /// orders, at which loops are split: an index is 0 where it is at most 0. Comparisons of sizes stay, as
  /// they do not vary in any loop.
  void compare(OpId id);
  /// `c == true` and `c != false` are c; `c == false` and `c != true` are `not c`.
  bool compareCondition(OpId id);
  /// A comparison of a constant with a choice among constants is made of the conditions of the choice.
  bool compareChoice(OpId id, Passed& out);
  /// The negation of a disjunction, or of a comparison of integers.
  bool negate(OpId id, Passed& out);
  /// `abs x <= y` is `x <= y and x >= -y`, and `abs x > y` is the opposite, unless `abs x` wraps.
  void compareMagnitude(OpId id, Passed& out);

  // Branches and loops.
  bool takeRegion(const Op& op, RegionId r, Passed& out);
  bool chooseArm(const Op& op, Passed& out);
  /// Puts the region `taken` in the place of the op, as the others never run.
  bool takeArm(const Op& op, RegionId taken, Passed& out);
  /// `if a { b } else { false }` becomes `a and b`.
  void connect(OpId id, Passed& out);
  /// The canonical form of an `if` or a `select` (canonical_branches.h).
  void canonicalChoice(OpId id, Passed& out);
  bool becomesExtremum(OpId id, Passed& out);
  /// Two branches, the second in the first arm of the first, as one.
  void joinNested(OpId id, Passed& out);
  bool chooseCase(const Op& op, Passed& out);
  /// A match of a number becomes an `if` of one region and a match of the others (canonical_branches.h).
  bool testRegion(OpId id, Passed& out);
  /// A region that goes on with a match of these regions of a match.
  RegionId matchOfOthers(OpId id, std::span<const uint32_t> others);
  /// A nest without axes is its body, unless its accumulators begin here.
  bool onePoint(const Op& op, Passed& out);
  /// A loop without stacked results becomes its body if its trip count is 1, and its first values if it is 0.
  bool foldLoop(OpId id, Passed& out);
  void sameInBothArms(const Op& op);
  std::optional<ValueId> sameInBothArms(const Op& op, size_t result) const;
  /// The arm that a branch always gives the value of: that of the product in `if x == 0 { 0 } else { x * y
  /// }`.
  std::optional<RegionId> armOfZeroFactor(const Op& op) const;
  /// A carried value that no iteration changes is the value from before the loop.
  void unchangedCarries(const Op& op);

  // Values.
  bool identity(const Op& op);
  /// Exact for floats too: x · 1, x / 1, x - 0. (x + 0 is not: the sum of -0 and 0 is 0.)
  bool arithmetic(const Op& op);
  /// (x - y) + y is x, also where it wraps.
  ValueId sumWithDifference(ValueId a, ValueId b) const;
  /// (x + y) - y is x, also where it wraps.
  ValueId differenceOfSum(ValueId a, ValueId b) const;
  /// The greater or the lesser of two i64 whose order is known.
  bool extremum(const Op& op);
  /// Converts of an i64 that is not negative to u64 and back.
  bool countedUnsigned(const Op& op);
  ValueId connective(const Op& op, ValueId a, ValueId b) const;
  /// Whether the op reads an element of a list that was read out of a place.
  bool isReadInPart(OpId id) const;
  /// Reads such an element from the place. Its derivative is then that of the place, not a list of zeros. It
  /// stays if the later read needed a copy.
  void readInPlace(OpId id, const Passed& before);
  /// Makes a `get` read another value.
  bool readFrom(const Op& op, ValueId v, bool dropStep);
  bool foldGet(const Op& op);
  bool unpack(const Op& op);
  bool bindKnown(const Op& op);
  /// The quotient of a size is a size too, so equal ones are common subexpressions.
  void partOfSize(OpId id);
  void constants(OpId id);

  Module& m_;
  FunctionId id_;
  Function& f_;
  types::TypeStore& types_;
  Ranges ranges_;
  LiveUses uses_;
  Negation negation_;
  KnownOps known_;
  types::DimSubst dims_;                              ///< replace symbols at the end of the round
  std::unordered_map<DimSym, ValueId> axes_;          ///< the axis of a nest that a size is bound to
  std::vector<std::pair<ValueId, uint64_t>> decided_; ///< bits, by the branches around
  RegionId scratch_;                                  ///< where constants are made
  std::optional<Sharing> sharing_;                    ///< where it is asked
  bool changed_ = false;
};

} // namespace melix::transforms
