#pragma once
// Expands derivatives to ordinary functions.
//
//   before:  %y, %g = derivative reverse @f wrt [0] seeded [1] %x, %seed
//   after:   %y, %s = call @fwd(f) %x;   %g = call @bwd(f) %s, %seed, %zero
//
// Innermost derivatives first, callees before callers, so a derivative of a derivative differentiates
// companions. Requires: verified Core without closures (after defunctionalise). Guarantees: no `derivative`
// op remains unless problems are reported; size linear in the program for any nesting, because companions are
// called, not copied.

#include "transforms/derivatives/activity.h"

namespace melix::transforms {

struct DerivativeResult {
  std::vector<AdProblem>
      problems; ///< errors for the user; the module must not be used further if there are any
};

DerivativeResult expandDerivatives(core::Module& module);

/// The locations of gradients by values that the results cannot depend on. The result of a derivative counts
/// as dependent on all its arguments. Requires: verified Core without closures.
std::vector<core::LocId> independentGradients(core::Module& module);

} // namespace melix::transforms
