#pragma once
// Nests stand in front of updates that they do not need, so that what they read is not held beyond these.
//
//   before:  %s1 = set %s[%i] = %c        %h = nest (%j: N) -> collect[j] { … get %s[%k, %j] … }
//   after:   %h = nest (%j: N) -> collect[j] { … get %s[%k, %j] … }        %s1 = set %s[%i] = %c
//
// Only nests without effects, and not in front of checks, effects and ops that define sizes. Requires:
// verified Core. Keeps: everything but the order.

#include "core/ir/walk.h"

namespace melix::transforms {

void advanceNests(core::Module& module, core::FunctionId f, const core::Effects& effects);

} // namespace melix::transforms
