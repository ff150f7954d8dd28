#pragma once
// Speculates a product in a branch: every point computes the sum, which tiles can take, and a `select` takes
// the points that count. The loops leave out the others again (loops/index_sets/split_predicated.h).
//
//   before:  nest (i: N, j: M) -> collect[i, j] { %m = cmp le %j, %i
//              %s = if %m { %p = nest (k: K) -> keep[] sum { … get %x[%i, %k] … get %y[%j, %k] … }
//                           %d = div %p, %a   yield %d } { yield %inf }
//              yield %s }
//   after:   nest (i: N, j: M) -> collect[i, j] { %m = cmp le %j, %i
//              %p = nest (k: K) -> keep[] sum { … }  %d = div %p, %a   %s = select %m, %d, %inf   yield %s }
//
// A branch changes only under these conditions:
// 1. Each conjunct of its condition compares sums of axes. It orders axes of different operands of the
//    product, or excludes few points (`i != j`). A conjunct may also depend on data (`mask[i, j]`), or bound
//    one operand (`j < length[b]`), if no term costs more than a product.
// 2. The arms have no effect, and sums in them read in range at all points.
// Other float reads of an arm, as the `bias[i - j]` that is added to a score, keep a branch of their own.
// Beside sums, a branch between numbers that already exist, or that cost no more than a branch, becomes a
// `select` too. Requires: verified Core. Keeps: bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

void speculateSums(core::Module& module);

} // namespace melix::transforms
