#pragma once
// Strip-mines a loop whose index is divided by a small number, as in enlarging an image. One iteration then
// handles one quotient. Reads at the quotient are contiguous over these iterations, and are done once for all
// remainders.
//
//   before:  for independent %a, %b { (%i)
//              %q = idiv %i, 2   %r = irem %i, 2   store %y[%i*%1] = f(%x[%q*%1], %r) }
//   after:   for independent %a, … { (%i)   as before }     up to the first whole row, if %a may be inside
//            for independent …, %b idiv 2 { (%q)
//              %x = %x[%q*%1]   store %y[2·%q*%1] = f(%x, 0)   store %y[(2·%q + 1)*%1] = f(%x, 1) }
//            for independent …, %b { (%i)   as before }     after the last whole row, if %b may be inside
//
// For innermost loops without an effect except stores. Requires: IndependenceMarked. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void stripMineQuotients(Function& function);

} // namespace melix::loops
