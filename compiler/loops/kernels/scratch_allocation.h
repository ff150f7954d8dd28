#pragma once
// Arrays that a chunk makes and gives back lie in scratch, where their sizes are known when it is launched; a
// chunk that allocates nothing else is a kernel.
//
//   before:  chunk @f.loop0(%0, %1, %n, …) { for points %0, %1 { (%i) %r = alloc f32 %n   …   drop %r } }
//   after:   kernel @f.loop0(%0, %1, %n, …, scratch %r) { for points %0, %1 { (%i) … } }
//
// Each array is a parameter, and the launch says how many bytes that is: its sizes are the same in every
// chunk, and computed without that anything could fail. It asks for none unless the first turn reaches the
// array, as far as that is the same for all: branches and loops around it, checks before it, among them the
// one that tells that there can be no such array. Where that is not known an array that is more than a row of
// unknown length may be larger than all there is: a large one is made by the chunk as it was
// (`large_scratch`). Requires: parallel loops outlined. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void placeInScratch(Module& module);

} // namespace melix::loops
