#pragma once
// Splits a loop at the points where a remainder of its index wraps. Inside a piece remainders become sums and
// quotients are constant, so neighbours are read contiguously and no iteration divides.
//
//   before:  for independent %a, %b { %i   %x = add %i, %c   %r = irem %x, %n   load %y[%r] … }
//   after:   while %a, %0 { %at %r0   %at < %b } { %at %r0
//              %x = add %at, %c
//              %r = if %at == %a { irem %x, %n } { %r0 }      (and if 64 bits wrapped, or %n < 1)
//              %next = min(%b, %at + (%n - %r))               the first point that wraps, or the end
//              %shift = sub %r, %at
//              for independent %at, %next { %i   load %y[%i + %shift] … }
//              yield %next, %r + (%next - %at) mod %n }
//
// For innermost loops that divide +-i + c by n, where c and n are invariant. The number of remainders does
// not matter, nor whether their divisors are equal, nor how the ends of the loop relate to them. A piece ends
// where the first remainder wraps. So code does not grow with the number of edges, and statements that may
// fail and carried values keep their order. Only the first piece divides; a quotient goes from piece to piece
// with its remainder. Exceptions:
// (1) A remainder or quotient by a small constant stays, and a quotient by a power of two: it costs less than
//     a piece. A quotient by a number that is not known stays too, since a piece for each point would cost
//     ten times as much.
// (2) If n is less than 4 at run time, a piece costs more.
// (3) Where 64 bits wrap, or n is not positive, a piece is one point.
//
// Keeps: bits and every effect in its order, for all values of c, n and the ends.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitAtWraparound(Function& function);

} // namespace melix::loops
