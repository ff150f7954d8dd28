#pragma once
// Checks of a loop are tested in front of it, so that nothing in the loop may fail and its points can be
// swept side by side.
//
//   before:  for %a, %b points { %i   %v = load %ids[%i]   check "…" (%v < %n)   … store %y[%i] = … }
//   after:   %ok = for %a, %b, true points { %i %c   %v = load %ids[%i]   yield %c and (%v < %n) }
//            if %ok { } { for %a, %b { %i   %v = load %ids[%i]   check "…" (%v < %n) } }
//            for %a, %b points { %i   %v = load %ids[%i]   … store %y[%i] = … }
//
// Conditions that compare what is affine in the indices are tested at the extremes instead, as long as
// nothing wraps there. The loop of checks comes to the first that fails, with its message and place; where
// only the test was too strict it runs through. All checks of a loop go or none: their conditions, guards and
// messages are computed from indices, from what stands before the loop and from memory that the loop does not
// write, and the loop calls nothing, prints nothing and ends. A pass is made where it is little beside the
// loop: one that reads what lies side by side is, as it runs in lanes; one that gathers is not in front of a
// loop that does nothing but gather. Outside of kernels and chunks, where no loop is widened, only extremes
// are tested. Requires: counts inserted. Keeps: values, every effect in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

void testChecksBefore(const Module& module, Function& function);

} // namespace melix::loops
