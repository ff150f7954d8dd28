#pragma once
// Distributes the inner loops of a kernel over the threads of a group, which runs a point of the kernel
// together.
//
//   before:  for independent %begin, %end { (%i)                   a thread a point
//              %t = for independent %0, %n, %zero : i32 { (%k, %s)
//                %x = load %v[%i*%n + %k*%1]   %r = add %s, %x   yield %r }
//              store %y[%i*%1] = %t
//              yield }
//   after:   for independent %begin, %end { (%i)                   a group of 32 threads a point
//              %p = thread   %first = cmp eq %p, %0
//              %count = shr (%n - %p + 31), 5
//              %u = for independent %0, %count, %zero : i32 { (%j, %s)
//                %k = %p + %j * 32   %x = load %v[%i*%n + %k*%1]   %r = add %s, %x   yield %r }
//              %o = shuffle 16 %u   %u1 = add %u, %o   …   %t = add %zero, %u5
//              if %first { store %y[%i*%1] = %t }
//              yield }
//
// All threads run the statements outside of the loops, with the same numbers; one of them stores. Frame
// memory into which the loops store is the group's (`shared`). A barrier stands between a store and the
// accesses of other threads to the same memory. Keeps: values; the order in which each float reduction adds
// its terms.

#include "loops/ir/ir.h"

namespace melix::loops {

void distributeOverThreads(Module& module);

} // namespace melix::loops
