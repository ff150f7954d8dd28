#pragma once
// Random keys are used once (rule 39): two samplings from one key variable on one path, or one sampling in a
// loop or builder from a key made outside of it, give the same numbers.

#include "check/signatures/checker.h"

namespace melix::check {

/// Warns about the keys that a settled instance uses up twice. Gives, for each parameter, whether it is a key
/// that the instance uses up; `split` and `fold_in` do not.
std::vector<bool> checkKeys(Checker& checker, InstanceId id);

} // namespace melix::check
