#pragma once
// Reads and negates predicates: conditions as a conjunction of atoms.
//
// A comparison of integers is negated exactly (`not (a < b)` is `a >= b`). A comparison of floats is not:
// with a NaN neither a comparison nor its inverse holds.

#include "core/analysis/affine.h"
#include "core/analysis/ranges.h"
#include "core/analysis/sizes.h"
#include "support/function_ref.h"

#include <set>
#include <vector>

namespace melix::core {

/// The conditions that `condition` is the conjunction of; itself, if it is no `and`.
std::vector<ValueId> conjunctsOf(const Function& f, ValueId condition);
/// The op of a condition that compares two i64; null if it is any other condition.
const Op* i64Comparison(const Module& m, const Function& f, ValueId condition);

/// A comparison of two i64 as affine forms. If neither form wraps where axes and sizes are small, `left` is
/// their difference, and `right` is 0: `i < j + 1` and `i - j <= 0` are both -i + j >= 0.
struct AffineComparison {
  ops::CmpKind how; ///< of a difference Ge, Eq or Ne
  AffineForm left, right;

  bool isOrder() const { return how != ops::CmpKind::Eq && how != ops::CmpKind::Ne; }
  std::set<ValueId> axes() const;
  auto operator<=>(const AffineComparison&) const = default;
};
/// The forms have the axes that `nameOf` gives in place of the axes read.
std::optional<AffineComparison> affineComparison(const Module& m, const Function& f, ValueId condition,
                                                 const AffineReading& reading,
                                                 FunctionRef<ValueId(ValueId)> nameOf = nullptr);
/// A condition as the set of the comparisons that it is the conjunction of; nullopt if it is anything else.
using AffinePredicate = std::set<AffineComparison>;
std::optional<AffinePredicate> affinePredicate(const Module& m, const Function& f, ValueId condition,
                                               const AffineReading& reading,
                                               FunctionRef<ValueId(ValueId)> nameOf = nullptr);
/// The same of axes, of constants and of sizes that are known before a nest.
std::optional<AffinePredicate> predicateOfAxes(const Module& m, const Function& f, const KnownSizes& sizes,
                                               OpId nest, ValueId condition,
                                               FunctionRef<bool(ValueId)> isAxis,
                                               FunctionRef<ValueId(ValueId)> nameOf = nullptr);

/// Negations of conditions at one place of a function.
///
/// The negation of a disjunction is the conjunction of the negations. The negation of a conjunction is a
/// disjunction, which no analysis reads. One kind is an exception: comparisons that hold at an end only, as
/// `i <= 0 and j <= 0` where neither is negative. All of them hold if and only if their sum is at its end, so
/// the negation is one comparison: `i + j > 0`.
class Negation {
public:
  Negation(const Module& m, const Function& f, Ranges& ranges) : m_(m), f_(f), ranges_(ranges) {}

  /// Whether the negation is a conjunction of atoms of which at least one is no `not`.
  bool isConjunction(ValueId condition) { return formOf(condition, deepest) == Form::Conjunction; }
  /// Emits the negation. It is a `not` where `isConjunction` is false.
  ValueId emit(Builder& b, ValueId condition) { return emit(b, condition, deepest); }

private:
  static constexpr int deepest = 8; ///< connectives inside each other
  /// The form of a negation: a `not` of the whole, a conjunction with a comparison in it, or a disjunction.
  enum class Form : uint8_t { Not, Conjunction, Disjunction };
  /// left >= right, or left > right.
  struct Order {
    ValueId left, right;
    bool isStrict;
  };

  Form formOf(ValueId condition, int depth);
  ValueId emit(Builder& b, ValueId condition, int depth);
  std::vector<Order> ends(ValueId condition);
  static ValueId sum(Builder& b, const std::vector<Order>& ends, ValueId Order::* side);

  const Module& m_;
  const Function& f_;
  Ranges& ranges_;
};

} // namespace melix::core
