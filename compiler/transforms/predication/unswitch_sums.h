#pragma once
// Unswitches sums: a condition that does not depend on a reduced axis is tested once, around the sum.
//
//   before:  nest (i: N, k: K, j: M) -> keep[i, k] sum {
//              %m = cmp le %k, %i   %t = if %m { … } { yield 0 }   yield %t }
//   after:   nest (i: N, k: K) -> collect[i, k] { %m = cmp le %k, %i
//              %s = if %m { nest (j: M) -> keep[] sum { … } } { yield 0 }   yield %s }
//
// Of a condition, the comparisons of integers move; the rest stays in the sum. One of them has to compare two
// axes. A comparison of one axis with another value leaves out whole rows, which are seldom many, and tiles
// take no sum in a branch. An axis has to be kept, in the nest or around it. Requires: verified Core, orders
// not chosen. Keeps: bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

void unswitchSums(core::Module& module);

} // namespace melix::transforms
