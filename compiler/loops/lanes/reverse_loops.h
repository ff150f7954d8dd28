#pragma once
// Loops of points that read and store backwards go the other way, so that lanes find neighbours.
//
//   before:  for points %a, %b { (%i)   %j = sub %n, %i   … load %x[%j*%1] … }
//   after:   for points %a, %b { (%k)   %i = sub %a + %b - 1, %k   %j = sub %n, %i   … load %x[%j*%1] … }
//
// Those that carry nothing, and hold no loop. Keeps: values; each point does what it did.

#include "loops/ir/ir.h"

namespace melix::loops {

void turnAround(Function& function);

} // namespace melix::loops
