#pragma once
// Hoists invariant integer quotients and remainders out of a loop. Later passes cannot do so: an instruction
// that divides may trap, while the statement of Loops never does (codegen's floor division).
//
//   before:  for independent %a, %b { %j   %x = add %i, %c   %r = irem %x, %n   … }
//   after:   %x = add %i, %c
//            %r = irem %x, %n
//            for independent %a, %b { %j   … }
//
// For innermost loops. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void hoistIntegerDivision(Function& function);

} // namespace melix::loops
