#pragma once
// Internal to the distribution of loops over threads: joins the carried values of a loop that several threads
// have.

#include "loops/analysis/vectorizability.h"
#include "loops/ir/build.h"

namespace melix::loops {

/// The values with which a thread begins: neutral elements; positions, which may be any, as in `initial`.
std::vector<ValueId> neutralValues(Builder& b, const std::vector<ReassociableStep>& steps,
                                   const std::vector<ValueId>& initial);

/// The values of two sets of iterations, `x` and `y`, in one. If `isLater`, `y` has the later iterations.
std::vector<ValueId> joinedValues(Builder& b, const std::vector<ReassociableStep>& steps,
                                  const std::vector<ValueId>& x, const std::vector<ValueId>& y, bool isLater);

} // namespace melix::loops
