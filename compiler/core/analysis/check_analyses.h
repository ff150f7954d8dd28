#pragma once
// Checks the results of analyses that are kept, after a pass.

#include "core/ir/analyses.h"

namespace melix::core {

/// Names the first function with a kept result that is not the one that the analysis computes anew, or with
/// another text at the same version; empty if there is none.
std::string checkAnalyses(const Module& m, std::string_view pass);

} // namespace melix::core
