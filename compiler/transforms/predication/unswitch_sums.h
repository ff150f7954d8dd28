#pragma once
// Masks that no reduced axis tells are asked once, around the sum.
//
//   before:  nest (i: N, k: K, j: M) -> keep[i, k] sum {
//              %m = cmp le %k, %i   %t = if %m { … } { yield 0 }   yield %t }
//   after:   nest (i: N, k: K) -> collect[i, k] { %m = cmp le %k, %i
//              %s = if %m { nest (j: M) -> keep[] sum { … } } { yield 0 }   yield %s }
//
// Of what a condition asks, the comparisons of integers; the rest stays in the sum. Only where one compares
// two axes: what one axis is compared with leaves out whole rows, which is seldom many, and a sum in a branch
// is none that tiles take. Only where axes are kept, in the nest or around it. Requires: verified Core,
// orders not chosen. Keeps: bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

void liftMasks(core::Module& module);

} // namespace melix::transforms
