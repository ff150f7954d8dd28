#pragma once
// Reads that are in range at all points of a sum leave its branches: what a product reads of the side that
// its mask does not tell apart is then read alike where the mask holds and where it does not.
//
//   before:  nest (i: N, k: K) -> keep[i] sum { %m = cmp lt %i, %k
//              %t = if %m { %a = get %x[%k]   … } { … }   yield %t }
//   after:   nest (i: N, k: K) -> keep[i] sum { %m = cmp lt %i, %k   %a = get %x[%k]
//              %t = if %m { … } { … }   yield %t }
//
// Only in nests that reduce to more than one number, or do so at each point of another, of numbers of arrays
// from outside of the nest that are there whatever branch is taken; sums and products of integers that are
// their indices go with them. Requires: verified Core. Keeps: everything but where it is read.

#include "core/ir/ir.h"

namespace melix::transforms {

void freeReads(core::Module& module);

} // namespace melix::transforms
