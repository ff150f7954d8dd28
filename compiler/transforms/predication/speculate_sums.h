#pragma once
// Products that are masked whole leave their branches: as a sum of every point, which tiles compute, of which
// a select takes those that count. What is left out again is the business of loops (split_predicated.h).
//
//   before:  nest (i: N, j: M) -> collect[i, j] { %m = cmp le %j, %i
//              %s = if %m { %p = nest (k: K) -> keep[] sum { … get %x[%i, %k] … get %y[%j, %k] … }
//                           %d = div %p, %a   yield %d } { yield %inf }
//              yield %s }
//   after:   nest (i: N, j: M) -> collect[i, j] { %m = cmp le %j, %i
//              %p = nest (k: K) -> keep[] sum { … }  %d = div %p, %a   %s = select %m, %d, %inf   yield %s }
//
// Only where all that has to hold compares sums of axes, and either orders such of different sides of the
// product or leaves out few points (`i != j`), or where data decide (`mask[i, j]`, `j < length[b]`) and the
// terms are products alone; the arms have no effect, and sums in them read in range at all points. What else
// an arm reads of floats, as the `bias[i - j]` that is added to a score, keeps a branch of its own. Beside
// sums, branches between numbers that are there, or cost no more than a branch, are choices too. Requires:
// verified Core. Keeps: bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

void freeSums(core::Module& module);

} // namespace melix::transforms
