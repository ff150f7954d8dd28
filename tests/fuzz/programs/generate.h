#pragma once
// Random well-typed programs.

#include "fuzz/programs/tree.h"
#include "fuzz/run.h"

namespace melix::fuzz::programs {

/// What a program is about. Each has checks of its own beside those that all have.
enum class Subject : uint8_t {
  Values,      ///< everything that computes
  Derivatives, ///< smooth functions, and their derivatives in every mode
  Indices,     ///< indices near the ends of arrays and of integers
  Sizes,       ///< sizes that are formulas, near the ends of axes and of integers
  Domains,     ///< where loops compute: masks, clamps, quotients, triangles, windows; exact gradients
};

Program generate(Subject subject, Random& random);

/// Of each subject, in `generate*.cpp`.
Program generateValues(Random& random);
Program generateDerivatives(Random& random);
Program generateIndices(Random& random);
Program generateSizes(Random& random);
Program generateDomains(Random& random);

} // namespace melix::fuzz::programs
