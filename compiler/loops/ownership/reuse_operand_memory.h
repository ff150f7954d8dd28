#pragma once
// Reuses the memory of an operand that dies in a loop for the loop's result.
//
//   before:  %y = alloc f32 %n, %x : data
//            for independent %0, %n { (%i)  %a = load %x[%i]   store %y[%i] = … }
//            drop %x   … %y …
//   after:   for independent %0, %n { (%i)  %a = load %x[%i]   store %x[%i] = … }
//            … %x …
//
// destinations.h has decided over Core which results are written to given memory. For a nest that allocates
// its result, emit_results.h appends the arrays of the same type that it reads, as extra operands after the
// sizes. This pass removes these operands. One is reused under three conditions:
// (1) Its block has one owner (uniqueness.h).
// (2) Its block is released after the loop.
// (3) Each iteration reads of it only the element that this iteration then writes.
//
// Then both have one name. A loop with checks keeps its operands. Requires: counts inserted. Keeps: values,
// every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void reuseOperandMemory(Module& module);

} // namespace melix::loops
