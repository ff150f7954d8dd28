#pragma once
// Loops of points around a sum, whose index is divided by a small number, run once for each
// remainder: within one of these runs nothing differs by the remainder, so that what columns read is the same
// for all rows (windows that move by several places at a time, backwards; images made larger).
//
//   before:  for points %a, %b { (%i)
//              for points … %j { %s = for %l in … {
//                %r = irem %i, 2   %q = idiv %i, 2   … load %x[%q, %l] * load %w[%r, %l, %j] … } … } }
//   after:   for points 0, 2 { (%p)
//              %first = add %a, %p   %n = max 0, (%b - %first + 1) idiv 2   %r = irem %first, 2   %t = idiv
//              %first, 2 for points 0, %n { (%k)   %i = %first + 2·%k
//                for points … %j { %s = for %l in … {
//                  %q = add %t, %k   … load %x[%q, %l] * load %w[%r, %l, %j] … } … } } }
//
// The loops over remainders of all loops around a sum, its columns too, stand outside of these. A loop over a
// chunk stays as it is. Requires: points marked. Keeps: bits, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitPhases(const Module& module, Function& function);

} // namespace melix::loops
