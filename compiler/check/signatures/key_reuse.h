#pragma once
// Checks that random keys are used once (rule 39). Two samplings from one key variable on one path give the
// same numbers; so does one sampling in a loop or builder from a key made outside of it.

#include "check/signatures/checker.h"

namespace melix::check {

/// Warns about the random keys that a resolved instance uses up twice. Gives, for each parameter, whether it
/// is a key that the instance uses up; `split` and `fold_in` do not.
std::vector<bool> checkKeys(Checker& checker, InstanceId id);

} // namespace melix::check
