#pragma once
// Promotes arrays that a chunk allocates and releases to scratch, if their sizes are known at its launch. A
// chunk without other allocations becomes a kernel.
//
//   before:  chunk @f.loop0(%0, %1, %n, …) { for independent %0, %1 { (%i) %r = alloc f32 %n   …   drop %r }
//   } after:   kernel @f.loop0(%0, %1, %n, …, scratch %r) { for independent %0, %1 { (%i) … } }
//
// Each array is a parameter, and the launch passes its size in bytes. The size must be the same in every
// chunk, and its computation must not fail. The launch requests no memory unless the first iteration reaches
// the array, as far as the conditions for that are the same for all iterations. These are branches, loops and
// earlier checks, among them the check that the array can exist. If that is unknown, an array longer than one
// row of unknown length may exceed all memory. A large one is therefore allocated by the original chunk
// (`large_scratch`). Requires: parallel loops outlined. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void assignScratch(Module& module);

} // namespace melix::loops
