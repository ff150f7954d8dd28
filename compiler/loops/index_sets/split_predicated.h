#pragma once
// Splits the rows of a contraction with predicated terms where the predicate begins and ends to hold. Where
// the predicate does not vary in a sum, a branch skips the whole sum.
//
//   before:  for independent unroll_jam 6 0, %w { (%x)
//              for independent vector 16 … { for %b … { for %c … {
//                %m = 0 <= %x - %b < %n and %y …   %t = if %m { load %e[%x - %b, %c] * … } { 0 }
//                yield add %acc, %t } } } }
//   after:   for 0, 2 { for independent unroll_jam 6 … { … as before … } }     the ends
//            for independent unroll_jam 6 %first, %end { (%x)                  where 0 <= %x - %b < %n,
//                                                                              for all %b
//              for independent vector 16 … {
//                if %y … { for %b … { for %c … { yield add %acc, load %e[%x - %b, %c] * … } } } { … } } }
//
// Rows that are two blocks at most are not split. If their number is only known at run time, all of them are
// treated as ends then. Five cases have files of their own, tried in this order:
// (1) The predicate varies with rows and with sums around the chain, as for windows over the edges of an
//     image: these sums are interchanged with the rows (interchange_masked_reduction.h).
// (2) It varies with rows and columns: rows of a panel without a true term skip their sums
//     (skip_masked_rows.h).
// (3) It varies with rows and iterations of the sum: rows omit iterations when they are jammed
//     (triangular_reduction.h).
// (4) Or the sum is split for some rows at a time (split_reduction_range.h).
// (5) A vectorised loop that is no row of a contraction omits iterations (trim_vector_reduction.h).
//
// Ends are computed from the compared values. These are sums and differences, with coefficient one, of the
// row, of indices of inner loops, and of invariant numbers. If one of these numbers is so large that 64 bits
// might wrap, all rows are ends. A sum is skipped only if its terms are then all +0 and its chain never holds
// -0. Requires: contractions tiled. Keeps: bits.

#include "loops/ir/ir.h"

namespace melix::loops {

void splitPredicated(const Module& module, Function& function);

} // namespace melix::loops
