#pragma once
// Converts a counted loop whose iterations are independent to a nest.
//
//   before:  %y1, %n1 = for %n, %y, %zero { (%i, %y', %n')
//              %e = math exp %x[%i]   %y'' = set %y'[%i] = %e   %n'' = if %e > 1 { %n' + 1 } { %n' }
//              yield %y'', %n'' }
//   after:   %y1, %s = nest (%i: N) -> collect[i], keep[] sum {
//              %e = math exp %x[%i]   %t = if %e > 1 { 0 + 1 } { 0 }   yield %e, %t }
//            %n1 = add %zero, %s
//
// Every carry of the loop is one of two kinds.
//   cells     An array that is read and updated at one place alone, another one in each iteration: its index
//             on one axis is `c·i + d`. Elements that are not written stay: a `set` of a slice follows. It
//             may be read where no iteration updates it (disjoint_accesses.h): there it has its value from
//             before the loop.
//   gathered  By an operation that is exact in any grouping: sums, products and extremes of integers, `max`
//             and `min` of floats, `and` and `or`, through branches and inner loops.
// A stacked value is collected. A loop that has an output stays. A loop that may panic stays in two cases:
// the nest could not make its arrays before, or the trip count may exceed the extent of an axis. Requires:
// verified Core, sums without an order. Keeps: values, every effect; the order of float sums: a loop that
// carries one stays.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool loopsToNests(core::Module& module);

} // namespace melix::transforms
