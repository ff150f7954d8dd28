#pragma once
// Distributes expensive terms out of reductions and filters into a nest of their own. Its points may run in
// any order and in parallel, and the remaining nest is a sweep over numbers.
//
//   before:  %s = nest(n: B) -> keep[] sum { %l = call @loss %m, %x[n] : f32   yield %l }
//   after:   %t = nest(n: B) -> collect[n] { %l = call @loss … yield %l }
//            %s = nest(n: B) -> keep[] sum { %l = get %t[n]   yield %l }
//
// A term is expensive if it sweeps (cost_model.h): calls, loops, nests of unknown or many points. So is a
// product of two operands, of which tiles compute many, where each point reads a number of its own, as `(x[i,
// j] - Σ a[i, k] b[j, k])²`. The collected array is then no larger than the array that is read. Applies to
// nests that are in no other nest, keep no axis, have no accumulators and yield scalars. Requires: verified
// Core without derivatives. Keeps: values and panics; the orders of float sums are not chosen yet.

#include "core/ir/ir.h"

namespace melix::transforms {

void fissionExpensiveTerms(core::Module& module);

} // namespace melix::transforms
