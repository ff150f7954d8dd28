#pragma once
// Fuses sweeps over the same rows, of which one reads the output of another, by strips of rows. The array
// between them is then as large as a strip and stays in the cache.
//
//   before:  %s = alloc f32 %n, %m
//            for parallel 0, %n { (%i) for independent 0, %m { (%j) … store %s[%i*%m + %j] = … } }
//            for parallel 0, %n { (%i) … load %s[%i*%m + %j] … }
//            drop %s
//   after:   for parallel 0, (%n + %r - 1) / %r { (%b)
//              %first = %b·%r   %last = min %n, %first + %r   %s = alloc f32 %r, %m
//              for independent %first, %last { (%i) %k = %i - %first
//                for independent … { … store %s[%k*%m + %j] = … } }
//              for independent %first, %last { (%i) %k = %i - %first   … load %s[%k*%m + %j] … }
//              drop %s }
//
// A reduction over the rows, at each point of other loops, continues from some strips to the next
// (strip_reductions.h):
//
//   before:  … for parallel 0, %m { (%j)
//                for 0, %n, %z { (%i, %c) load %s[%i*%m + %j] … }   store %y[%j] = … }
//   after:   for 0, (%n + %t - 1) / %t { (%a)
//              for parallel … { as above, for %t rows of which %s has all }
//              for parallel 0, %m { (%j)
//                for 0, %t, load %y[%j] { … load %s[%i*%m + %j] … }   store %y[%j] = … } }
//
// For arrays that only these sweeps use, at their own rows (sweep_analysis.h). All sweeps that such arrays
// connect are fused, over as many axes as they share. The fused sweep stands in place of the last one.
// Statements in between that need a sweep move after it; if a sweep in turn needs such a statement, the
// sweeps are not fused. A small array is one strip, which is decided at run time. Requires: counts inserted,
// results placed, parallel loops not outlined. Keeps: bits, every effect in its order.

#include "loops/ir/ir.h"

namespace melix::loops {

struct StripSizes {
  int64_t fewestRows = 96;        ///< the least of a strip: tiles of a product take them together
  int64_t rowsOfTile = 6;         ///< the least of rows so long that `fewestRows` exceed `mostBytes`
  int64_t mostBytes = 32 << 20;   ///< limit on the memory of `fewestRows` rows
  int64_t stripBytes = 512 << 10; ///< memory that a strip keeps, unless these are fewer rows
  int64_t summedBytes = 8 << 20;  ///< memory of the rows between two iterations of sums
  int64_t summedRows = 192;       ///< number of these rows, or a multiple: threads share their strips
};

void fuseByStrips(const Module& module, Function& function, const StripSizes& sizes = {});

} // namespace melix::loops
