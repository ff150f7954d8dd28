#pragma once
// Evaluates the conditions of checks at the extremes of values that are affine in loop indices.

#include "loops/checks/check_slice.h"
#include "loops/ir/build.h"

namespace melix::loops {

/// Minima and maxima are emitted at the builder's position.
class CheckExtremes {
public:
  CheckExtremes(Builder& b, const CheckSlice& slice) : b_(b), fn_(b.fn), slice_(slice) {}

  /// Whether a check holds at all points if it holds at the extremes. No branch encloses it, and both sides
  /// of its comparison have their minima and maxima at points of their own.
  bool isTestable(const CheckSlice::Check& check);
  /// The test that it holds at the extremes, or that the loop has no point.
  ValueId test(const CheckSlice::Check& check);
  /// The test that no number in the tests so far wraps; none if that is known.
  ValueId isExact() const { return exact_; }

private:
  using Indices = std::vector<ValueId>;
  struct Ends {
    ValueId low, high;
  };

  const std::optional<Indices>& reach(ValueId v, int depth);
  std::optional<Indices> findReach(ValueId v, int depth);
  std::optional<Indices> ofScalar(const Stmt& s, int depth);
  bool isInvariant(ValueId v, int depth);
  bool isTestable(ValueId condition, int depth);

  ValueId holds(ValueId condition);
  Ends ends(ValueId v);
  Ends findEnds(ValueId v);
  Ends ofArithmetic(const Stmt& s);
  ValueId exactly(core::CheckKind check, core::OpKind op, ValueId a, ValueId b);
  ValueId invariant(ValueId v);
  void require(ValueId& all, ValueId condition) { all = all ? b_.both(all, condition) : condition; }

  Builder& b_;
  Function& fn_;
  const CheckSlice& slice_;
  std::unordered_map<ValueId, std::optional<Indices>> reaches_; ///< sorted
  std::unordered_map<ValueId, Ends> ends_;
  std::unordered_map<ValueId, ValueId> copies_; ///< of values that no index changes
  ValueId exact_;
};

} // namespace melix::loops
