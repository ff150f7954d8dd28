#pragma once
// Marks source loops as independent if their iterations depend on each other not at all, or only through a
// reduction.
//
//   before:  %t = for polls %a, %b, %zero { (%i, %s)
//              %x = load %v[%i*%1]   %r = add %s, %x   store %y[%i*%1] = %r   yield %r }
//   after:   %t = for independent polls %a, %b, %zero { … }
//
// The step must be reassociable. A block that is stored to is read and stored at one place in each iteration,
// and at a different one in each. Most loops without carries are nests before this pass (loops_to_nests); the
// rest add to an accumulator. Requires: invariant carries dropped. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void markIndependentLoops(Function& function);

} // namespace melix::loops
