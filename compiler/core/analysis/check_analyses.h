#pragma once
// Checks the results of analyses that are kept, after a pass.

#include "core/ir/analyses.h"

namespace melix::core {

/// The first kept result, of the pass or after it, that is not what the analysis computes of the function as
/// it is, or the first function whose text changed while its version did not; empty if there is none.
std::string checkAnalyses(const Module& m, std::string_view pass);

} // namespace melix::core
