#pragma once
// Splits a reduction over the axes of both operands of a product. The new nest reduces each row first, and a
// tile computes its products.
//
//   before:  %s = nest (i: N, j: M) -> keep[] sum {
//              %p = nest (k: K) -> keep[] sum { … get %x[%i, %k] … get %y[%j, %k] … }
//              %e = math exp %p   yield %e }
//   after:   %r = nest (i: N, j: M) -> keep[i] sum { … }
//            %s = nest (i: N) -> keep[] sum { %e = get %r[%i]   yield %e }
//
// Applies to sums and extremes whose axes are all reduced. A nest that collects may compute such a sum of a
// row at each point, beside other sweeps. A nest of its own before it then collects these sums. Requires:
// verified Core, orders not chosen (core/order/order.h). Keeps: every effect, in order; values but for the
// order of sums.

#include "core/ir/ir.h"

namespace melix::transforms {

void splitReductions(core::Module& module);

} // namespace melix::transforms
