#pragma once
// Splits a loop of independent iterations around a sum by the residue of its index, which is divided by a
// small number. The loop runs once for each remainder. Within such a run nothing varies with the remainder,
// so columns read the same values for all rows. Examples are windows with a stride, backwards, and enlarged
// images.
//
//   before:  for independent %a, %b { (%i)
//              for independent … %j { %s = for %l in … {
//                %r = irem %i, 2   %q = idiv %i, 2   … load %x[%q, %l] * load %w[%r, %l, %j] … } … } }
//   after:   for independent 0, 2 { (%p)
//              %first = add %a, %p   %n = max 0, (%b - %first + 1) idiv 2   %r = irem %first, 2   %t = idiv
//              %first, 2 for independent 0, %n { (%k)   %i = %first + 2·%k
//                for independent … %j { %s = for %l in … {
//                  %q = add %t, %k   … load %x[%q, %l] * load %w[%r, %l, %j] … } … } } }
//
// The loops over remainders stand outside of all loops around the sum, its columns included. A loop over a
// chunk stays as it is. Requires: IndependenceMarked. Keeps: bits, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitByResidue(const Module& module, Function& function);

} // namespace melix::loops
