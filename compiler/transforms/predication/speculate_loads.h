#pragma once
// Speculates loads of a predicated sum: loads that are in range at every point move out of its branches. The
// operand that does not depend on the mask is then loaded unconditionally.
//
//   before:  nest (i: N, k: K) -> keep[i] sum { %m = cmp lt %i, %k
//              %t = if %m { %a = get %x[%k]   … } { … }   yield %t }
//   after:   nest (i: N, k: K) -> keep[i] sum { %m = cmp lt %i, %k   %a = get %x[%k]
//              %t = if %m { … } { … }   yield %t }
//
// Applies to nests that reduce to more than one number, or that do so at each point of another nest. A load
// moves if it reads numbers of an array from outside of the nest that exists whatever branch is taken.
// Integer sums and products that are its indices move with it. Requires: verified Core. Keeps: everything but
// where it is read.

#include "core/ir/ir.h"

namespace melix::transforms {

void speculateLoads(core::Module& module);

} // namespace melix::transforms
