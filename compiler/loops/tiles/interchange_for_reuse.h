#pragma once
// Interchanges nested independent loops for reuse. A loop whose iterations share the loads of a sum's columns
// moves next to the columns, so that its iterations can be jammed.
//
//   before:  for independent %0, %1 { (%t) for independent 0, %n { (%h) for independent 0, %m { (%e)
//              %s = for 0, %k, %z { (%d, %c) load %x[%t*%k + %d]   load %w[%d*%p + %h*%m + %e]   yield fma …
//              } … } } }
//   after:   for independent 0, %n { (%h) for independent %0, %1 { (%t) for independent 0, %m { (%e) … } } }
//
// If the loop around the columns shares them already, nothing is done. For loops with invariant ends that
// contain only scalars beside each other. Requires: lanes not chosen. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void interchangeForReuse(const Module& module, Function& function);

} // namespace melix::loops
