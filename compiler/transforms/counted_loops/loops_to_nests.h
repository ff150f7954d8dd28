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
// Every carried value of the loop is one of two kinds.
//   updates     An array that is read and updated at one place alone, another one in each iteration. Its
//               index on one axis is `c·i + d`. If not all elements are written, a `set` of a slice writes
//               the result into the initial array. The array may be read where no iteration updates it
//               (disjoint_accesses.h): there it has its value from before the loop.
//   reductions  By an operation that is exact in any grouping: sums, products and extremes of integers, `max`
//               and `min` of floats, `and` and `or`, through branches and inner loops.
// A value that the loop collects (`LoopAttr::collects`) is collected. A loop with an output is not converted.
// A loop that may panic is not converted in two cases: an index of an update may be out of range, or the trip
// count may exceed the extent of an axis. Requires:
// verified Core, sums without an order. Keeps: values, every effect; the order of float sums: a loop that
// carries one stays.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool loopsToNests(core::Module& module);

} // namespace melix::transforms
