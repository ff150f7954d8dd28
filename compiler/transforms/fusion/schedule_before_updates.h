#pragma once
// Schedules nests before updates that they do not need, so that arrays that they read are not held beyond
// these updates.
//
//   before:  %s1 = set %s[%i] = %c        %h = nest (%j: N) -> collect[j] { … get %s[%k, %j] … }
//   after:   %h = nest (%j: N) -> collect[j] { … get %s[%k, %j] … }        %s1 = set %s[%i] = %c
//
// Moves only nests without effects, and not before checks, effects and ops that define sizes. Requires:
// verified Core. Keeps: everything but the order.

#include "core/ir/walk.h"

namespace melix::transforms {

void advanceNests(core::Module& module, core::FunctionId f, const core::Effects& effects);

} // namespace melix::transforms
