#pragma once
// Hoists a check that is invariant in a nest: it runs once before the nest, if the nest has points.
//
//   before:  %r = nest (i: N) -> collect[i] {
//              check not_empty dims [M]   %k = nest (j: M) -> keep[] argmin { … }   yield %k }
//   after:   %some = cmp gt N, 0   if %some { check not_empty dims [M]  yield } { yield }
//            %r = nest (i: N) -> collect[i] { %k = nest (j: M) -> keep[] argmin { … }   yield %k }
//
// The check has to come before all other effects of a point, so the first point would have failed there. The
// remaining nest may merge, and its points run in any order. Requires: verified Core. Keeps: values, effects
// in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any check moved.
bool hoistChecks(core::Module& module);

} // namespace melix::transforms
