#pragma once
// Preaggregates scatters: terms for the same chosen place are summed before they are added there, and added
// row by row.
//
//   before:  %r = nest (%i: I, %j: J, %k: K) -> accs(%h = %x) {
//              %p = get %index[%k]   %v = mul %a[%i, %j], %b[%i, %k]   %h' = add_at %h[%p, %j] += %v   … }
//   after:   %t = nest (%k: K, %j: J, %i: I) -> keep[k, j] sum { yield mul %a[%i, %j], %b[%i, %k] }
//            %r = nest (%k: K) -> accs(%g = %x) { %p = get %index[%k]
//              %h'' = nest (%j: J) -> accs(%h = %g) { … add_at %h[%p, %j] += %t[%k, %j] … } … }
//
// The axes around an add are of three kinds:
// 1. Axes that its place is computed from (k).
// 2. Axes that are indices of the place themselves (j, a row).
// 3. Axes that the place does not depend on (i). All their terms go to one place.
// The sum over the third kind is a nest before the others if all sizes are known there. In a product it
// becomes its tile. If data determine how many points an axis has, the sum is computed at each point of the
// places. If nothing is summed, the axes of rows move inside, as their elements are not contiguous.
//
// Applies to adds that `scatter_to_gather` left. An expensive value that would be computed more often is
// stored. If it cannot be stored, the add stays. Requires: verified Core. Keeps: values up to the order of
// float sums.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool preaggregateScatter(core::Module& module);

} // namespace melix::transforms
