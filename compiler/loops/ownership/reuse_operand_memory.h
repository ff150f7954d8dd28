#pragma once
// A result of a loop takes the memory of an operand that ends with it.
//
//   before:  %y = alloc f32 %n, %x : data
//            for points %0, %n { (%i)  %a = load %x[%i]   store %y[%i] = … }
//            drop %x   … %y …
//   after:   for points %0, %n { (%i)  %a = load %x[%i]   store %x[%i] = … }
//            … %x …
//
// Which memory a result is given from outside was decided over Core (destinations.h). Of a nest whose result
// has a new block, emit_results.h writes behind the sizes the arrays of the same type that it reads; the pass
// takes them away. One is taken if its block has one owner (uniqueness.h), is given back behind the loop,
// and the loop reads of it, in each turn, only the element that this turn then writes. Then both have one
// name. A loop with checks keeps what it reads. Requires: counts inserted. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void placeResults(Module& module);

} // namespace melix::loops
