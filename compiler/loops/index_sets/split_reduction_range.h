#pragma once
// Splits the range of the innermost sum of a contraction whose predicate varies with its rows. The cuts are
// where the predicate begins or ends to hold, for some rows at a time. Part of split_predicated.
//
//   before:  for independent unroll_jam 6 0, %n { (%i)
//              for independent vector 16 … { … for 0, %k, %c { (%l)  %t = if (cmp le %l, %i) { … } { 0 }
//              yield add … } } }
//   after:   for independent 0, (%n + 47) / 48 { (%b)  %first = %b·48   %last = min %n, %first + 48
//              for independent unroll_jam 6 %first, %last { (%i)
//                for independent vector 16 … {
//                  … for 0, %first + 1, %c { (%l)  %t = …   yield add … }                    where it holds
//                  for all … for %first + 1, %last { (%l)  %t = if (cmp le %l, %i) { … } { 0 } … } } } } and
//                  for some
//
// Terms at which it holds for no row are omitted, if adding their +0 leaves the chain unchanged.

#include "loops/analysis/contraction.h"
#include "loops/ir/build.h"
#include "support/function_ref.h"

namespace melix::loops {

/// Whether an iteration of the innermost sum that does not take the branch passes its carried values on
/// unchanged.
using KeepsCarries = FunctionRef<bool(const Contraction& found, StmtId branch)>;

/// Strip-mines a loop, which stands in the region `home`, by that many iterations.
void stripMine(Builder& b, StmtId loop, RegionId home, int64_t together);

/// Splits the reduction for the rows of a contraction, which stand in the region `home`.
void splitReductionRange(Function& fn, StmtId rows, RegionId home, KeepsCarries keeps);

} // namespace melix::loops
