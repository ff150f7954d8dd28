#pragma once
// A loop that a program writes, whose turns need of each other nothing, or but a running total, is one of
// points.
//
//   before:  %t = for polls %a, %b, %zero { (%i, %s)
//              %x = load %v[%i*%1]   %r = add %s, %x   store %y[%i*%1] = %r   yield %r }
//   after:   %t = for points polls %a, %b, %zero { … }
//
// The step is one that may be grouped in any way. What is stored to is read and stored at one place in each
// turn, another one in each. Of those that carry nothing most are nests before they come here (raise_loops),
// but for what adds to an accumulator. Requires: carries dropped that are passed on as they are. Keeps:
// values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void markPoints(Function& function);

} // namespace melix::loops
