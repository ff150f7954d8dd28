#pragma once
// A float sum or product in its order (core/order/order.h).
//
// The state is the values that the sum carries through the loops. For a *blocked* sum the loops themselves
// cut the terms into blocks (emit_blocks.h): the state is the total outside of a block and the chain inside.
// Any other sum counts its terms: its state is the total, the chain, and the number of rows (or pieces of a
// long row) in the block. Lanes are an array in the frame, cleared at the beginning of a block.

#include "loops/ir/build.h"
#include "loops/plan/plan_nest.h"
#include "support/function_ref.h"

#include <optional>
#include <span>

namespace melix::loops {

/// Whole rows in a block, at least one.
ValueId wholeRows(Builder& b, ValueId row);

class OrderedSum {
public:
  /// A sum or product of terms of `kind`.
  OrderedSum(Builder& b, const ResultPlan& plan, TypeKind kind);

  /// Computes the values that depend on sizes alone, once before the sweep of `axes`; `extents` are by axis.
  /// `isOne`: the points of the axes are known to be one block.
  void open(std::span<const uint32_t> axes, const std::vector<ValueId>& extents, bool isOne);
  /// The state before the first term.
  std::vector<ValueId> init() const;
  /// A partial sum with one more term.
  using AddTerm = FunctionRef<ValueId(ValueId)>;
  /// The state with the term at these indices, by axis.
  std::vector<ValueId> add(const std::vector<ValueId>& axes, const std::vector<ValueId>& state,
                           AddTerm addTerm) const;
  ValueId finish(const std::vector<ValueId>& state) const;

  // For a blocked sum.
  /// Memory for its lanes, where the loop over blocks stands.
  void openLanes();
  /// The chain before the first term of a block.
  ValueId beginBlock() const;
  /// The value of a block whose chain is that.
  ValueId endBlock(ValueId chain) const;
  ValueId joinBlock(ValueId total, ValueId block) const;

private:
  bool hasLanes() const { return lanes_ > 0; }
  ValueId unit() const;
  ValueId combine(ValueId x, ValueId y) const;
  Access laneAccess() const;
  uint32_t usedLanes() const;
  std::vector<Term> laneAt(ValueId lane) const;
  template <class Body>
  void beyond(uint32_t terms, const Body& body) const;
  void clearLanes() const;
  ValueId laneOf(ValueId index) const;
  void addToLane(const std::vector<ValueId>& axes, AddTerm addTerm) const;
  ValueId foldLanes() const;

  Builder* b_;
  core::MonoidKind monoid_;
  TypeKind kind_;
  bool isFused_;                    ///< terms are products that are added by `fma`
  uint32_t lanes_;                  ///< 0: a chain
  std::optional<uint32_t> rowAxis_; ///< none if no axis is reduced
  bool blocked_;
  bool isOne_ = false;
  ValueId points_;  ///< how many terms there are
  ValueId row_;     ///< how many of them are a row
  ValueId scratch_; ///< where the lanes are
};

} // namespace melix::loops
