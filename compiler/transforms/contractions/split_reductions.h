#pragma once
// What is reduced over both sides of a product is reduced by rows first, whose products a tile computes.
//
//   before:  %s = nest (i: N, j: M) -> keep[] sum {
//              %p = nest (k: K) -> keep[] sum { … get %x[%i, %k] … get %y[%j, %k] … }
//              %e = math exp %p   yield %e }
//   after:   %r = nest (i: N, j: M) -> keep[i] sum { … }
//            %s = nest (i: N) -> keep[] sum { %e = get %r[%i]   yield %e }
//
// Of sums and extremes whose axes are all reduced. A number of a point that is such a sum of a row, beside
// other sweeps of a nest that collects, is collected by a nest of its own in front. Requires: verified Core,
// orders not chosen (core/order/order.h). Keeps: every effect, in order; values but for the order of sums.

#include "core/ir/ir.h"

namespace melix::transforms {

void sumRows(core::Module& module);

} // namespace melix::transforms
