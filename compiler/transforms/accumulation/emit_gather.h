#pragma once
// Emits the planned reduction of an add (gather_plan.h): a nest of its own, after the nest of the add.

#include "transforms/accumulation/gather_plan.h"
#include "transforms/accumulation/gather_support.h"

namespace melix::transforms {

/// An add of `nest`, with the values that the nest keeps for it.
struct PlannedAdd {
  const Conversion& conversion;
  core::OpId nest;
  const KeptValues& kept;
};

/// A sum, and where in the accumulator it is added as a whole: everywhere if the path is empty.
struct PlacedSum {
  core::ValueId sum;
  core::Path place;
  std::vector<core::ValueId> indices;
};

/// The sums of all terms, for each element of the part of the accumulator that they reach. Copies are entered
/// in `uses`.
PlacedSum sumOfTerms(core::Module& m, core::FunctionId f, core::LiveUses& uses, const PlannedAdd& add,
                     Emit& e);
/// Adds each term to the value at its place, where each term has a place of its own.
core::ValueId addEachTerm(core::Module& m, core::FunctionId f, core::LiveUses& uses, const PlannedAdd& add,
                          Emit& e, core::ValueId to);

} // namespace melix::transforms
