#pragma once
#include "fuzz/programs/compare.h"

namespace melix::fuzz::programs {

/// A smaller program with a finding of the same kind: functions, statements and parts of expressions are
/// taken away or made simple as long as it persists, for at most so many seconds.
Case shrink(const Case& from, const Finding& finding, double seconds);

} // namespace melix::fuzz::programs
