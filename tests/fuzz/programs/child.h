#pragma once
#include "fuzz/programs/runs.h"

#include <functional>

namespace melix::fuzz::programs {

/// Runs `work` in a forked process with its output collected and its time bounded; its result is the status.
/// One that starts others has no bound but theirs for the time it waits.
Outcome inChild(const std::string& way, const std::function<int()>& work, bool startsOthers = false);

} // namespace melix::fuzz::programs
