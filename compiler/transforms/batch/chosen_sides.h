#pragma once
// Groups the rows of a nest by the matrix that they choose for a product (chosen_products.h). In a group it
// is the product of rows and one matrix, which tiles compute.
//
//   before:  %y = nest (b: B) -> collect[b] {
//              %e = get %kinds[%b]   %m = get %w[%e]
//              %u = nest (j: H, k: D) -> keep[j] sum { … get %x[%b, %k] … get %m[%k, %j] … }
//              … %u … }
//   after:   %us, %ranks = if 4 E <= B {
//              …                                     // row_groups.h
//              %u = for E, %zero { (%e, %all)
//                %m = get %w[%e]
//                %part = nest (i: n) -> collect[i] { %b = get %rows[%i]
//                  nest (j: H, k: D) -> keep[j] sum chain { … get %x[%b, %k] … get %m[%k, %j] … } }
//                yield set %all[%from +: n] = %part }
//              yield %u, %ranks
//            } { … the same row by row, and row numbers … }
//            %y = nest (b: B) -> collect[b] { %u = get %us[get %ranks[%b]]   … %u … }
//
// All products with the same choice stand in one loop, with the ops between them, unless others need a value
// that they make for each other. Values of a row that they need become arrays before, if they cost more than
// a read. Both forms sum in chains: the bits of a row do not depend on how many rows there are.

#include "transforms/batch/chosen_products.h"
#include "transforms/batch/rows.h"

namespace melix::transforms {

class Costs;

class ChosenSides {
public:
  /// `part`: an op of the body of the nest.
  ChosenSides(core::Module& m, core::FunctionId f, core::OpId nest, core::OpId part,
              const core::Effects& effects, const Costs& costs);

  /// Whether the part is a product whose matrix is chosen by values of the body.
  bool any() const { return !isMoved_.empty(); }
  /// None if all that it needs and gives can be stored.
  Refused refusal() const;
  /// Appends a nest that makes the choice, if that costs more than a read and no check comes before it.
  /// Checks of the choice are cheap from then on. Whether it did.
  bool storeChoice(core::Builder& b);
  /// Appends the ops before the nest. Requires that nothing in the nest has an effect.
  void group(core::Builder& b);

private:
  core::Function& fn() const { return m_.functions[f_]; }
  AxisVariance variance() const { return {m_, f_, nest_, effects_, OwnSizes::Copied}; }
  void findMoved(std::span<const core::OpId> products);
  bool givesOwnNeeds() const;
  std::vector<core::ValueId> needsOf(core::OpId id) const;
  bool isCopied(core::OpId id) const { return isMoved_.contains(id) || isRead_.contains(id); }
  std::vector<core::ValueId> needs() const;
  std::vector<core::ValueId> given() const;
  void store(core::Builder& b, std::span<const core::ValueId> live) const;
  core::ValueId collectKeys(core::Builder& b) const;
  std::vector<core::ValueId> grouped(core::Builder& b, core::ValueId keys) const;
  std::vector<core::ValueId> rowByRow(core::Builder& b) const;
  std::vector<core::ValueId> resultsOf(core::Builder& b, const RowSet& set,
                                       std::span<const core::ValueId> chosen) const;
  void sumInChains(core::OpId nest) const;
  void separateResults(core::Builder& b, core::ValueId ranks, std::span<const core::ValueId> made,
                       std::span<const core::ValueId> results) const;
  void readBy(core::ValueId ranks, std::span<const core::ValueId> results);

  core::Module& m_;
  const core::FunctionId f_;
  const core::OpId nest_;
  const core::RegionId body_;
  const core::Effects& effects_;
  const Costs& costs_;
  const Rows rows_;
  std::vector<core::ValueId> choice_;
  std::vector<core::DimId> extents_;
  std::unordered_set<core::OpId> isMoved_; ///< the products and the ops between them
  std::unordered_set<core::OpId> isRead_;  ///< the ops that matrices are read by
};

} // namespace melix::transforms
