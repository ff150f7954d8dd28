#pragma once
// A check that is the same at all points of a nest is made in front of it, if there are points.
//
//   before:  %r = nest (i: N) -> collect[i] {
//              check not_empty dims [M]   %k = nest (j: M) -> keep[] argmin { … }   yield %k }
//   after:   %some = cmp gt N, 0   if %some { check not_empty dims [M]  yield } { yield }
//            %r = nest (i: N) -> collect[i] { %k = nest (j: M) -> keep[] argmin { … }   yield %k }
//
// Only in front of all other effects of a point: the first point would have failed there. What is left may
// merge, and its points run in any order. Requires: verified Core. Keeps: values, effects in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool hoistChecks(core::Module& module);

} // namespace melix::transforms
