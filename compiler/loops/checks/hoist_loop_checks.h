#pragma once
// Hoists the checks of a loop: they are tested before it, so that nothing in the loop may fail and its
// iterations can run side by side.
//
//   before:  for independent %a, %b { %i   %v = load %ids[%i]   check "…" (%v < %n)   … store %y[%i] = … }
//   after:   %ok = for independent %a, %b, true { %i %c   %v = load %ids[%i]   yield %c and (%v < %n) }
//            if %ok { } { for %a, %b { %i   %v = load %ids[%i]   check "…" (%v < %n) } }
//            for independent %a, %b { %i   %v = load %ids[%i]   … store %y[%i] = … }
//
// Conditions that compare values affine in the indices are tested at the extremes instead, as long as nothing
// wraps there. The loop of checks reaches the first check that fails, with its message and place. It runs
// through if only the test was too strict.
//
// All checks of a loop are hoisted, or none:
// (1) Their conditions, guards and messages are computed from indices, from values defined before the loop
//     and from memory that the loop does not write.
// (2) The loop calls nothing, prints nothing and ends.
// (3) A pass over the loop must cost little compared to the loop. A pass with contiguous reads does, as it is
//     vectorised. A pass that gathers does not, before a loop that only gathers.
//
// Outside of kernels and chunks, where no loop is vectorised, only extremes are tested. Requires: counts
// inserted. Keeps: values, every effect in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

void hoistLoopChecks(const Module& module, Function& function);

} // namespace melix::loops
