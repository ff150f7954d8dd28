#pragma once
// A loop that wraps its index runs in pieces within which nothing wraps: remainders become sums there, so
// that neighbours are read side by side and no turn divides.
//
//   before:  for %a, %b points { %i   %x = add %i, %c   %r = irem %x, %n   load %y[%r] … }
//   after:   while %a, %0 { %at %r0   %at < %b } { %at %r0
//              %x = add %at, %c
//              %r = if %at == %a { irem %x, %n } { %r0 }      (and if 64 bits wrapped, or %n < 1)
//              %next = min(%b, %at + (%n - %r))               the first point that wraps, or the end
//              %shift = sub %r, %at
//              for %at, %next points { %i   load %y[%i + %shift] … }
//              yield %next, %r + (%next - %at) mod %n }
//
// Loops without loops inside are taken that divide +-i + c by n, where c and n are the same in all turns. How
// many remainders there are, whether their divisors are equal, and what the ends of the loop have to do with
// them does not matter: a piece ends where the first of them wraps, so code does not grow by edges, and what
// may fail or is carried goes on in order. Only the first piece divides. A remainder by a small constant
// stays: it costs less than a piece; by a number that turns out to be less than 4 a piece costs more. Where
// 64 bits wrap, or n is not positive, a piece is one point.
// Keeps: bits and every effect in its order, for all values of c, n and the ends.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitWrapped(Function& function);

} // namespace melix::loops
