#pragma once
// Branches of a chain whose condition tells columns apart, but not the rows that share what they read
// (contraction.h), are opened: what rows share is read under the mask, once for all of them, and each
// row chooses between the term and what it was.
//
//   before:  for points %0, %m { (%o)                           rows
//              for points 0, %n { (%j)                          columns
//                … for 0, %k, … { (%l, %c)
//                  %m = …%j + %l…
//                  %s = if %m { %x = load %v[%j + %l]   yield fma %x, %w, %c } { yield %c }
//                  yield %s } … } }
//   after:             %x = if %m { yield load %v[%j + %l] } { yield 0 }
//                      %t = fma %x, %w, %c
//                      %s = select %m, %t, %c
//
// All else in the branch is arithmetic, which is then done for nothing where the mask is off. Requires: no
// lanes chosen. Keeps: bits, and what is read.

#include "loops/ir/ir.h"

namespace melix::loops {

void openMasks(const Module& module, Function& function);

} // namespace melix::loops
