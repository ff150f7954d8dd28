#pragma once
// Points of a row whose index is divided by a small number, as of an image made larger, stand in a row for
// each quotient: what is read at the quotient lies side by side for these, and is read once for all
// remainders.
//
//   before:  for points %a, %b { (%i)
//              %q = idiv %i, 2   %r = irem %i, 2   store %y[%i*%1] = f(%x[%q*%1], %r) }
//   after:   for points %a, … { (%i)   as before }     up to the first whole row, if %a may be inside
//            for points …, %b idiv 2 { (%q)
//              %x = %x[%q*%1]   store %y[2·%q*%1] = f(%x, 0)   store %y[(2·%q + 1)*%1] = f(%x, 1) }
//            for points …, %b { (%i)   as before }     behind the last whole row, if %b may be inside
//
// Of loops that hold no others, and nothing with an effect but stores. Requires: points marked. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitQuotients(Function& function);

} // namespace melix::loops
