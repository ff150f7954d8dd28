#pragma once
// Reverses loops of independent iterations that access memory backwards, so that lanes are contiguous.
//
//   before:  for independent %a, %b { (%i)   %j = sub %n, %i   … load %x[%j*%1] … }
//   after:   for independent %a, %b { (%k)
//              %i = sub %a + %b - 1, %k   %j = sub %n, %i   … load %x[%j*%1] … }
//
// For innermost loops without carries. Keeps: values; each point computes the same.

#include "loops/ir/ir.h"

namespace melix::loops {

void reverseLoops(Function& function);

} // namespace melix::loops
