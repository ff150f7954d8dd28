#pragma once
// Takes sums of two sides, as a product has, out of points that check them: a point that may fail runs by
// itself, sums that cannot are swept together.
//
//   before:  %r = nest (i: N, j: M) -> collect[i, j] { %s = nest (k: K) -> keep[] sum { … }
//              check converts %s   %c = convert %s : i32   yield %c }
//   after:   %t = nest (i: N, j: M) -> collect[i, j] { %s = nest (k: K) -> keep[] sum { … }   yield %s }
//            %r = nest (i: N, j: M) -> collect[i, j] { %s = get %t[i, j]
//              check converts %s   %c = convert %s : i32   yield %c }
//
// Only of nests that stand in no other nest and collect all that they make, where nothing in front of the sum
// has an effect, and one behind it depends on the sum. Requires: verified Core without derivatives. Keeps:
// values; effects in their order.

#include "core/ir/ir.h"

namespace melix::transforms {

void separateSums(core::Module& module);

} // namespace melix::transforms
