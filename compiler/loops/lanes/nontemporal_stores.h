#pragma once
// Chooses non-temporal stores, which bypass the cache if the array is large. The conditions:
// (1) The store is in a kernel.
// (2) It is contiguous in lanes, or covers all columns of rows (interleaved_accesses.h).
// (3) The kernel does not read the array.
// (4) The iteration contains no long loop: an iteration with one is not bound by memory.
//
//   before:  for independent vector 16 %0, %1 { (%i) … store %y[%i*%one] = %v … }
//   after:   for independent vector 16 %0, %1 { (%i) … store %y[%i*%one] nontemporal = %v … }
//
// A line that is stored as a whole need not be read from memory first. Whether an array is large is seen when
// the kernel runs (MELIX_STREAMED_BYTES), unless all launches give it one of a small constant size. Requires:
// lanes chosen. Linear in the statements.

#include "loops/ir/ir.h"

namespace melix::loops {

void chooseNontemporalStores(Module& module);

} // namespace melix::loops
