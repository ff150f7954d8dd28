#pragma once
// A sum of products whose factors a branch gives goes into the branch, and where these leave it as it is,
// nothing is added.
//
//   before:  %x, %y = if %m { … yield %a, %b } { yield 0.0, -0.0 }   %s = fma %x, %y, %c
//   after:   %s = if %m { …   %f = fma %a, %b, %c   yield %f } { yield %c }
//
// Of branches that only read, with nothing behind them up to the sum that writes; in branches within
// branches too. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void sinkSums(const Module& module, Function& function);

} // namespace melix::loops
