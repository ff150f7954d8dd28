#pragma once
// What goes to places that indices choose is summed before it is added there, and added row by row.
//
//   before:  %r = nest (%i: I, %j: J, %k: K) -> accs(%h = %x) {
//              %p = get %index[%k]   %v = mul %a[%i, %j], %b[%i, %k]   %h' = add_at %h[%p, %j] += %v   … }
//   after:   %t = nest (%k: K, %j: J, %i: I) -> keep[k, j] sum { yield mul %a[%i, %j], %b[%i, %k] }
//            %r = nest (%k: K) -> accs(%g = %x) { %p = get %index[%k]
//              %h'' = nest (%j: J) -> accs(%h = %g) { … add_at %h[%p, %j] += %t[%k, %j] … } … }
//
// The axes around an add are those that its place is computed from (k), those that are indices of it
// themselves (j, a row), and those that it does not depend on (i): of these all terms go to one place. Their
// sum is a nest in front if all sizes are known there, as in a product, whose tile it becomes. Else, where
// data says how many points an axis has, it is summed at each point of the places. Where nothing is summed,
// rows go inside: their elements lie apart.
//
// Only adds that `accumulate_to_reduce` left. What is dear and would be computed more often is kept, and if
// it cannot be, the add stays. Requires: verified Core. Keeps: values up to the order of float sums.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool sumBeforeScatter(core::Module& module);

} // namespace melix::transforms
