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
// What sums over the rows, at each point of other loops, goes on from some strips to the next
// (strip_reductions.h):
//
//   before:  … for parallel 0, %m { (%j) … for 0, %n, %z { (%i, %c) load %s[%i*%m + %j] … } … store %y[%j] =
//   … } after:   for 0, (%n + %t - 1) / %t { (%a)   for parallel … { as above, for %t rows of which %s has
//   all }
//            for parallel 0, %m { (%j) … for 0, %t, load %y[%j] { … load %s[%i*%m + %j] … } store %y[%j] = …
//            } }
//
// For arrays that these sweeps alone use, at their own rows (sweep_analysis.h), and all sweeps that such
// arrays tie to each other, over as many axes as they share. They run where the last one stands; what stands
// between and needs one of them goes behind, and where one of them needs that in turn they stay apart. A
// small array is one strip, which is decided when the program runs. Requires: counts inserted, results
// placed, parallel loops not outlined. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

struct StripSizes {
  int64_t fewestRows = 96;        ///< of a strip: tiles of a product take them together
  int64_t rowsOfTile = 6;         ///< even of rows so long that those would not be
  int64_t mostBytes = 32 << 20;   ///< kept in so many bytes
  int64_t stripBytes = 512 << 10; ///< of what a strip keeps, unless that are fewer rows
  int64_t summedBytes = 8 << 20;  ///< of rows between two turns of sums
  int64_t summedRows = 192;       ///< that many of them, or a multiple: threads share their strips
};

void joinStrips(const Module& module, Function& function, const StripSizes& sizes = {});

} // namespace melix::loops
