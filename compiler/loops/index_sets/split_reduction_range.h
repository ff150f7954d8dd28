#pragma once
// Part of split_masked: the innermost sum of a contraction whose terms are under a mask that tells its rows
// apart is cut where the mask begins or ends to hold, for some rows at a time.
//
//   before:  for points rows 6 0, %n { (%i)
//              for points vector 16 … { … for 0, %k, %c { (%l)  %t = if (cmp le %l, %i) { … } { 0 }   yield
//              add … } } }
//   after:   for points 0, (%n + 47) / 48 { (%b)  %first = %b·48   %last = min %n, %first + 48
//              for points rows 6 %first, %last { (%i)
//                for points vector 16 … {
//                  … for 0, %first + 1, %c { (%l)  %t = …   yield add … }                    where it holds
//                  for all … for %first + 1, %last { (%l)  %t = if (cmp le %l, %i) { … } { 0 } … } } } } and
//                  for some
//
// Terms at which it holds for no row are left out if a chain that adds their +0 stays what it is.

#include "loops/analysis/contraction.h"
#include "loops/ir/build.h"

#include <functional>

namespace melix::loops {

/// Whether a turn of the innermost sum in which the branch is not taken carries on what it began with.
using KeepsCarries = std::function<bool(const Contraction& found, StmtId branch)>;

/// Goes over the turns of a loop, which stands in the region `home`, so many at a time.
void putInBlocks(Builder& b, StmtId loop, RegionId home, int64_t together);

/// For the rows of a contraction, which stand in the region `home`.
void cutChain(Function& fn, StmtId rows, RegionId home, const KeepsCarries& keeps);

} // namespace melix::loops
