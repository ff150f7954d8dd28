#pragma once
// If-converts branches of a chain whose condition varies with the column, but not with the rows that share
// loads (contraction.h). The shared loads are done under the mask, once for all rows. Each row selects
// between the term and the previous value.
//
//   before:  for independent %0, %m { (%o)                           rows
//              for independent 0, %n { (%j)                          columns
//                … for 0, %k, … { (%l, %c)
//                  %m = …%j + %l…
//                  %s = if %m { %x = load %v[%j + %l]   yield fma %x, %w, %c } { yield %c }
//                  yield %s } … } }
//   after:             %x = if %m { yield load %v[%j + %l] } { yield 0 }
//                      %t = fma %x, %w, %c
//                      %s = select %m, %t, %c
//
// The rest of the branch is arithmetic, whose result is then unused where the mask is off. Requires: no lanes
// chosen. Keeps: bits, and the set of loads.

#include "loops/ir/ir.h"

namespace melix::loops {

void ifConvertSharedLoads(const Module& module, Function& function);

} // namespace melix::loops
