#pragma once
// Internal to the distribution of loops over threads: joins what several threads made of a loop's carried
// values.

#include "loops/analysis/vectorizability.h"
#include "loops/ir/build.h"

namespace melix::loops {

/// With what each thread begins: neutral elements, and for positions any values, those in `initial`.
std::vector<ValueId> neutralValues(Builder& b, const std::vector<ReassociableStep>& steps,
                                   const std::vector<ValueId>& initial);

/// The values `x` and `y` of two sets of iterations in one. If `isLater`, all iterations of `y` come after
/// those of `x`.
std::vector<ValueId> joinedValues(Builder& b, const std::vector<ReassociableStep>& steps,
                                  const std::vector<ValueId>& x, const std::vector<ValueId>& y, bool isLater);

} // namespace melix::loops
