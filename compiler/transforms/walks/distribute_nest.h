#pragma once
// Distributes a nest (loop fission, the inverse of fusion): part of its body becomes a nest of its own before
// it, over all axes or some. Values that are live across the cut become arrays.
//
//   before:  %r = nest (i: N, k: K) -> … { %e = math exp %x[i]   %p = mul %e, %y[k] … }
//   after:   %t = nest (i: N) -> collect[i] { %e = math exp %x[i]   yield %e }
//            %r = nest (i: N, k: K) -> … { %e = get %t[i]   %p = mul %e, %y[k] … }

#include "transforms/analysis/axis_variance.h"

namespace melix::transforms {

class Costs;

/// Of the ops of a region that make `values`, the results of the expensive ones. Code elsewhere that needs
/// `values` reads these, and recomputes all else.
std::vector<core::ValueId> storedFor(const core::Function& f, const Costs& costs, core::RegionId region,
                                     std::span<const core::ValueId> values);

/// Whether the sizes of a value of a region are not defined in the region.
bool hasOuterSizes(const core::Module& m, const core::Function& f, core::RegionId region, core::ValueId v);
/// Whether `ops` define all sizes that the region defines and an op mentions, with the ops in its regions.
bool knowsSizes(const core::Module& m, const core::Function& f, core::RegionId region, core::OpId op,
                std::span<const core::OpId> ops);
/// Of a value: `hasOuterSizes`, and it is a number or an array of numbers: it can become an array before the
/// region.
bool canBeStored(const core::Module& m, const core::Function& f, core::RegionId region, core::ValueId v);

struct Cut {
  AxisSet axes;                    ///< of the nest before: all that the live values vary with
  std::vector<core::OpId> ops;     ///< of the body, in order: they make the live values
  std::vector<core::ValueId> live; ///< made by them, and all used results of the same ops
  bool moves = false;              ///< all the ops go, be it that they have effects; else others may use them
  /// If given, a number of points: the nest before runs only if there are any, else its arrays are zeros.
  core::DimId points = {};
};

/// Requires: the cut has an axis. Appends the nest before at `b` and makes the live values reads of it, which
/// are first in the body; gives the arrays. Keeps: values; effects, if the cut has all axes of the nest.
std::vector<core::ValueId> distribute(core::Builder& b, core::OpId nest, const Cut& cut);

} // namespace melix::transforms
