#pragma once
// Integer quotients and remainders that are the same in all turns of a loop are computed in front of it.
// Later nobody can do so: an instruction that divides may trap, and here none does (codegen's floor
// division).
//
//   before:  for %a, %b points { %j   %x = add %i, %c   %r = irem %x, %n   … }
//   after:   %x = add %i, %c
//            %r = irem %x, %n
//            for %a, %b points { %j   … }
//
// Of loops without loops inside. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void hoistQuotients(Function& function);

} // namespace melix::loops
