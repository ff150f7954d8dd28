#pragma once
// Sweeps over the same rows, of which one reads what another makes, are done by strips of rows: what goes
// from one to the other is then as large as a strip, and stays in the cache.
//
//   before:  %s = alloc f32 %n, %m
//            for parallel 0, %n { (%i) for points 0, %m { (%j) … store %s[%i*%m + %j] = … } }
//            for parallel 0, %n { (%i) … load %s[%i*%m + %j] … }
//            drop %s
//   after:   for parallel 0, (%n + %r - 1) / %r { (%b)
//              %first = %b·%r   %last = min %n, %first + %r   %s = alloc f32 %r, %m
//              for points %first, %last { (%i) %k = %i - %first   for points … { … store %s[%k*%m + %j] = … }
//              } for points %first, %last { (%i) %k = %i - %first   … load %s[%k*%m + %j] … } drop %s }
//
// For arrays that these sweeps alone use, at their own rows (row_sweeps.h), and all sweeps that such arrays
// tie to each other, over as many axes as they share. They run where the last one stands; what stands between
// and needs one of them goes behind, and where one of them needs that in turn they stay apart. A small array
// is one strip, which is decided when the program runs. Requires: counts inserted, results placed, parallel
// loops not outlined. Keeps: bits, every effect in its order.

#include "loops/ir.h"

namespace melix::loops {

void joinStrips(const Module& module, Function& function);

} // namespace melix::loops
