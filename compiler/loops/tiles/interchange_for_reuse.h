#pragma once
// Of loops of points around each other, one of those whose points share what the columns of a sum read goes
// next to these, so that its points can be done together.
//
//   before:  for points %0, %1 { (%t) for points 0, %n { (%h) for points 0, %m { (%e)
//              %s = for 0, %k, %z { (%d, %c) load %x[%t*%k + %d]   load %w[%d*%p + %h*%m + %e]   yield fma …
//              } … } } }
//   after:   for points 0, %n { (%h) for points %0, %1 { (%t) for points 0, %m { (%e) … } } }
//
// Where the points of the loop around the columns share it already, nothing is done. Loops whose ends are the
// same in all turns, with nothing but numbers beside them. Requires: lanes not chosen. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void orderRows(const Module& module, Function& function);

} // namespace melix::loops
