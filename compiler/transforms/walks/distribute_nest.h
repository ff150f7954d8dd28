#pragma once
// Cuts the body of a nest: part of it becomes a nest of its own in front, over all axes or some, and what is
// live across the cut an array. The inverse of fusion.
//
//   before:  %r = nest (i: N, k: K) -> … { %e = math exp %x[i]   %p = mul %e, %y[k] … }
//   after:   %t = nest (i: N) -> collect[i] { %e = math exp %x[i]   yield %e }
//            %r = nest (i: N, k: K) -> … { %e = get %t[i]   %p = mul %e, %y[k] … }

#include "transforms/analysis/axis_variance.h"

namespace melix::transforms {

struct Cut {
  AxisSet axes;                    ///< of the nest in front: all that the live values vary with
  std::vector<core::OpId> ops;     ///< of the body, in order: they make the live values
  std::vector<core::ValueId> live; ///< made by them, with all that others use of what the same ops give
  bool moves = false;              ///< all the ops go, be it that they have effects; else others may use them
  /// If given, a number of points: the nest in front runs only if there are any, else its arrays are zeros.
  core::DimId points = {};
};

/// Requires: the cut has an axis. Appends the nest in front at `b` and makes the live values reads of it,
/// which stand first in the body; gives the arrays. Keeps: values; effects, if the axes are all those of the
/// nest.
std::vector<core::ValueId> distribute(core::Builder& b, core::OpId nest, const Cut& cut);

} // namespace melix::transforms
