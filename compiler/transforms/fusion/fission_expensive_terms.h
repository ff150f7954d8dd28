#pragma once
// Takes dear terms out of reductions and filters, so that they are computed by a nest of their own, whose
// points may run in any order and at once; what is left is a sweep over numbers.
//
//   before:  %s = nest(n: B) -> keep[] sum { %l = call @loss %m, %x[n] : f32   yield %l }
//   after:   %t = nest(n: B) -> collect[n] { %l = call @loss … yield %l }
//            %s = nest(n: B) -> keep[] sum { %l = get %t[n]   yield %l }
//
// Dear: what sweeps (cost_model.h): calls, loops, nests of unknown or many points. Also products of two
// sides, of which tiles compute many, where each point reads a number of its own, as `(x[i, j] - Σ a[i, k]
// b[j, k])²`: what is collected is no more than what is read. Only nests that stand in no other nest, keep no
// axis, have no accumulators and yield scalars. Requires: verified Core without derivatives. Keeps: values
// and panics; the orders of float sums are not chosen yet.

#include "core/ir/ir.h"

namespace melix::transforms {

void separateTerms(core::Module& module);

} // namespace melix::transforms
