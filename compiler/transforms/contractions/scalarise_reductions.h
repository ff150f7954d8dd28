#pragma once
// Sums of rows are rows of sums.
//
//   before:  %s = nest (i: N, k: K) -> keep[i] sum { … %row … yield %row }
//   after:   %r = nest (i: N, k: K) -> collect[i, k] { … %row … yield %row }
//            %s = nest (i: N, k: K, j: M) -> keep[i, j] sum { %e = get %r[%i, %k, %j]   yield %e }
//
// So that products in what is added are seen: of each element, as of scaled rows and outer products, or of
// all rows, as those of rows and a matrix (fission_products.h). What costs little is fused into the sum
// again; rows that are arrays of all points have one axis, and no loops, calls or effects stand beside them.
// Of few numbers each is a sum of its own, of terms that are computed once:
//
//   before:  %s = nest (i: N, k: K) -> keep[i] sum { … %d : f32[3] … yield %d }
//   after:   %s0, %s1, %s2 = nest (i: N, k: K) -> keep[i] sum, keep[i] sum, keep[i] sum {
//              … yield (get %d[0]), (get %d[1]), (get %d[2]) }
//            %s = nest (i: N) -> collect[i] { yield array (get %s0[%i]), (get %s1[%i]), (get %s2[%i]) }
//
// Also where they are the points of a last axis, `collect[i, d]`, and share quotients, roots or functions.
// Requires: verified Core without derivatives, orders not chosen. Keeps: values but for the order of sums;
// every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool spreadSums(core::Module& module);

} // namespace melix::transforms
