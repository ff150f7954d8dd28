#pragma once
// Finds products of a row and a matrix that the row chooses, among matrices that all rows share.
//
//   nest (b: B) -> collect[b] {
//     %e = get %kinds[%b]   %m = get %w[%e]          // the choice, and a read by it
//     %u = nest (j: H, k: D) -> keep[j] sum { … get %x[%b, %k] … get %m[%k, %j] … }   … }

#include "transforms/analysis/axis_variance.h"

namespace melix::transforms {

struct ChosenProduct {
  core::OpId part; ///< of the body of the nest, in which the product stands
  core::OpId sum;
  std::vector<core::ValueId> choice; ///< the indices by which a row chooses
  std::vector<core::DimId> extents;  ///< of the axes that these indices are of
  std::vector<core::OpId> reads;     ///< ops of the body that the matrix is read by
};

/// Chosen products in a nest, in the order of its body. An index that is affine in the axes of the nest is no
/// choice. Sums whose order is chosen are left out.
std::vector<ChosenProduct> chosenProducts(core::Module& m, core::FunctionId f, core::OpId nest,
                                          const core::Effects& effects);

/// How many choices there are, and one number for each; the indices that a number stands for.
core::DimId choices(core::Builder& b, std::span<const core::DimId> extents);
core::ValueId choiceKey(core::Builder& b, std::span<const core::ValueId> choice,
                        std::span<const core::DimId> extents);
std::vector<core::ValueId> choiceOfKey(core::Builder& b, core::ValueId key,
                                       std::span<const core::DimId> extents);

} // namespace melix::transforms
