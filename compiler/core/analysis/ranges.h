#pragma once
// Computes ranges of integers and sizes at a place of a function, and proves checks that cannot fail there.
//
// Ranges are exact: an op that might wrap has none. A fact is used only where its source dominates. The
// caller walks the function, and reports each op after it ran (`define`) and each region around its ops
// (`enter`, `leave`). Facts about values and sizes come from checks that passed and from the conditions of
// branches around.

#include "core/ir/analyses.h"
#include "types/dim_facts.h"

#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace melix::core {

class Ranges {
  friend class OrderedForms;

public:
  /// Knows the sizes of the function's parameters.
  Ranges(types::TypeStore& types, const Function& f);
  /// The same: a copy of the ranges that are kept.
  Ranges(const Module& m, FunctionId f);

  /// Adds the facts that hold once `op` ran: its results exist, so their sizes are sizes; a check has passed.
  void define(const Op& op);
  /// How much was known at a place.
  struct Mark {
    size_t dims, values, orders;
  };
  /// Adds the facts that hold inside of a region, until `leave` is called with the mark returned. A sweep
  /// runs its body only if it has points, an arm of a branch only if the condition selects it.
  Mark enter(RegionId r);
  /// Adds the facts that follow from a condition that holds, or does not, until `leave`.
  Mark enter(ValueId condition, bool holds);
  void leave(Mark mark);

  /// Whether a check can never fail here.
  bool isProved(const Op& check);
  /// Whether an i64 is an index of an axis: at least 0 and below its extent.
  bool isIndex(ValueId v, DimId extent);
  /// Whether the i64 that computes a dimension is its exact value.
  bool isExact(DimId d) const { return facts_.isExact(d); }
  /// Whether an i64 is never negative.
  bool isNatural(ValueId v) { return isAtLeast(v, 0); }
  bool isAtLeast(ValueId v, int64_t bound);
  bool isAtMost(ValueId v, int64_t bound);
  /// An extent of which the i64 is always an index.
  std::optional<DimId> extentOf(ValueId v);
  /// The size that an i64 always is.
  std::optional<DimId> sizeOf(ValueId v);
  /// Whether of two i64, or two sizes, the first is never the lesser.
  bool isNoLess(ValueId a, ValueId b);
  bool isNoLess(DimId a, DimId b);
  /// The constant result of `<`, `<=`, `>` or `>=` of two i64 here; none if it may be either.
  std::optional<bool> compared(const Op& cmp);

protected:
  /// Of two at the start of a function.
  bool knowsTheSameAs(const Ranges& o) const { return facts_ == o.facts_ && learned_ == o.learned_; }

private:
  /// Both ends belong to it.
  struct Range {
    DimId low, high;
  };
  static constexpr int maxDepth = 8;    ///< of the ops that a range is found through
  static constexpr int fewExtremes = 3; ///< in a dimension, whose sides are looked at

  Mark mark() const { return {facts_.mark(), trail_.size(), orders_.size()}; }
  void assume(ValueId condition, bool holds, int depth);
  void assumeCompared(const Op& cmp, bool holds, int depth);
  void assumeNoLess(ValueId a, ValueId b, int64_t by, int depth);
  void assumeOther(ValueId v, ValueId than, int depth);
  void narrow(ValueId v, std::optional<DimId> low, std::optional<DimId> high, int depth);
  bool learnSizes(TypeId type, int depth);
  void learnExtents(std::vector<DimId> dims);

  std::optional<Range> range(ValueId v, int depth = maxDepth);
  std::optional<Range> ofValue(ValueId v, int depth);
  std::optional<Range> ofOp(const Op& op, int depth);
  std::optional<Range> ofEither(ValueId condition, ValueId yes, ValueId no, int depth);
  std::optional<Range> outside(const Op& op, std::optional<Range> inside);
  std::optional<Range> ofElement(const Op& op, int depth);
  std::optional<Range> ofNestResult(const Op& nest, ValueId result, int depth);
  std::optional<Range> ofTerms(const Op& op, int depth);
  std::optional<Range> ofSum(const Op& op, int depth);
  std::optional<Range> ofProduct(const Op& op, int depth);
  std::optional<Range> ofQuotient(const Op& op, int depth);
  std::optional<Range> ofExtremum(const Op& op, int depth);
  std::optional<Range> ofConverted(const Op& op);
  std::optional<Range> ofParameter(ValueId v, int depth);
  std::optional<Range> ofOffset(ValueId from, ValueId index, int depth);
  DimId lastOf(const Op& loop, int depth);
  std::optional<Range> ofCarry(const Op& loop, uint32_t k, int depth);
  std::optional<DimId> limitOf(ValueId condition, ValueId carry, int depth);
  /// The range if no number in it wraps.
  std::optional<Range> unwrapped(Range r) const;
  std::optional<int64_t> integer(ValueId v) const;
  const Op* def(ValueId v) const { return f_.values[v].def.valid() ? &f_.ops[f_.values[v].def] : nullptr; }
  bool isNatural(DimId d, int extremes);
  bool isAtLeast(DimId d, types::DimFacts::Wide bound);
  bool isAtMost(DimId d, types::DimFacts::Wide bound);
  DimId extreme(DimId d, bool isLeast);
  std::optional<bool> isRising(DimId d, DimSym s);

  /// more >= less + by.
  struct Order {
    ValueId more, less;
    int64_t by;
  };

  bool isNotZero(ValueId v);
  bool indexFits(const Op& check);
  bool sliceFits(const Op& check);
  bool resultFits(const Op& check);
  bool arrayFits(const Op& check) const;
  bool pointsFit(const Op& check);

  const Function& f_;
  types::TypeStore& types_;
  types::DimStore& dims_;
  types::DimFacts facts_;
  bool isEntry_ = true;                                         ///< nothing of the body is known yet
  std::unordered_set<TypeId> learned_;                          ///< types whose sizes hold everywhere
  std::unordered_map<ValueId, Range> known_;                    ///< of i64, beside the ranges of their ops
  std::unordered_map<DimSym, Range> bound_;                     ///< of numbers that sizes are
  std::unordered_map<ValueId, DimId> sizes_;                    ///< that numbers are
  std::unordered_map<DimSym, ValueId> numbers_;                 ///< that sizes are
  std::vector<Order> orders_;                                   ///< of values that are no constants
  std::vector<std::pair<ValueId, std::optional<Range>>> trail_; ///< the earlier state of each fact
};

/// Ranges at the start of a function, which `analysis` keeps.
class EntryRanges : public Ranges {
public:
  static constexpr char name[] = "ranges";
  EntryRanges(const Module& m, const Function& f) : Ranges(m.types, f) {}
  bool operator==(const EntryRanges& o) const { return knowsTheSameAs(o); }
};

} // namespace melix::core
