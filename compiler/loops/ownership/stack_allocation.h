#pragma once
// Promotes small arrays of constant or bounded size to the function's stack frame, if nothing holds them
// beyond their region.
//
//   before:  %a = alloc f64 %3, %3 : data  … write %a, call @det3 %a …  drop %a
//   after:   %a = frame 72 : data  … write %a, call @det3 %a …
//
// (1) Arrays of scalars of at most 64 elements, in all at most 4,096 bytes a function. The limit is 256 bytes
//     if the function may call itself, so that recursion stays about as deep. Functions that they are passed
//     to use only their elements.
// (2) Arrays of one axis whose length is bounded by a number, `min %n, 1024`: the partial results of a sum's
//     blocks. At most 8,192 bytes each and 32,768 a function, and only if the function does not call itself.
//
// Requires: counts inserted. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void promoteToStack(Module& module);

} // namespace melix::loops
