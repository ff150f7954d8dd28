#pragma once
// Small arrays of constant size that nothing holds beyond their region lie in the frame of the function.
//
//   before:  %a = alloc f64 %3, %3 : data  … write %a, call @det3 %a …  drop %a
//   after:   %a = frame 72 : data  … write %a, call @det3 %a …
//
// Arrays of scalars of at most `mostElements`, in all at most `mostBytes` a function; functions that they are
// passed to only read them. Requires: counts inserted. Keeps: values, every effect.

#include "loops/ir.h"

namespace melix::loops {

constexpr uint64_t mostElements = 64;
constexpr uint64_t mostBytes = 4096; ///< so that recursion stays as deep as it was

void placeInFrames(Module& module);

} // namespace melix::loops
