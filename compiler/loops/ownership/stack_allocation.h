#pragma once
// Small arrays of constant or bounded size that nothing holds beyond their region lie in the frame of the
// function.
//
//   before:  %a = alloc f64 %3, %3 : data  … write %a, call @det3 %a …  drop %a
//   after:   %a = frame 72 : data  … write %a, call @det3 %a …
//
// Arrays of scalars of at most 64 elements, in all at most 4,096 bytes a function, 256 where it may call
// itself, so that recursion stays about as deep; functions that they are passed to use nothing but their
// elements. So do arrays of one axis that is at most a number, `min %n, 1024`, of at most 8,192 bytes each
// and 32,768 a function, where it does not call itself: what blocks of a sum leave behind. Requires: counts
// inserted. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void placeInFrames(Module& module);

} // namespace melix::loops
