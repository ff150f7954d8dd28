#pragma once
// Distributes a nest whose points check a sum of products. The points that may fail run by themselves, and
// sums that cannot fail are swept together.
//
//   before:  %r = nest (i: N, j: M) -> collect[i, j] { %s = nest (k: K) -> keep[] sum { … }
//              check converts %s   %c = convert %s : i32   yield %c }
//   after:   %t = nest (i: N, j: M) -> collect[i, j] { %s = nest (k: K) -> keep[] sum { … }   yield %s }
//            %r = nest (i: N, j: M) -> collect[i, j] { %s = get %t[i, j]
//              check converts %s   %c = convert %s : i32   yield %c }
//
// Applies to nests that are in no other nest and collect all their results. No op before the sum has an
// effect, and an effect after it depends on the sum. Requires: verified Core without derivatives. Keeps:
// values; effects in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

void fissionCheckedSums(core::Module& module);

} // namespace melix::transforms
