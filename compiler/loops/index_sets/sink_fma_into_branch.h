#pragma once
// Sinks an `fma` into the branch that yields its factors. In the arm whose factors leave the sum unchanged,
// nothing is added.
//
//   before:  %x, %y = if %m { … yield %a, %b } { yield 0.0, -0.0 }   %s = fma %x, %y, %c
//   after:   %s = if %m { …   %f = fma %a, %b, %c   yield %f } { yield %c }
//
// Only for branches that only read, with no write between them and the sum. Nested branches are handled too.
// Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void sinkFmaIntoBranch(const Module& module, Function& function);

} // namespace melix::loops
