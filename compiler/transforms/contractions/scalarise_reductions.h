#pragma once
// Scalarises reductions of arrays: a sum of rows becomes a row of sums.
//
//   before:  %s = nest (i: N, k: K) -> keep[i] sum { … %row … yield %row }
//   after:   %r = nest (i: N, k: K) -> collect[i, k] { … %row … yield %row }
//            %s = nest (i: N, k: K, j: M) -> keep[i, j] sum { %e = get %r[%i, %k, %j]   yield %e }
//
// This exposes products in the terms. They are products of each element, as of scaled rows and outer
// products, or of all rows, as products of rows and a matrix (fission_products.h). Cheap terms are fused into
// the sum again. Arrays of two axes or more that a point makes of rows, element by element, are
// recomputed where the term reads them. Rows that become arrays of all points have one axis, and no loops,
// calls or effects stand beside them. If a row has few numbers, each is a sum of its own, and its terms are
// computed once:
//
//   before:  %s = nest (i: N, k: K) -> keep[i] sum { … %d : f32[3] … yield %d }
//   after:   %s0, %s1, %s2 = nest (i: N, k: K) -> keep[i] sum, keep[i] sum, keep[i] sum {
//              … yield (get %d[0]), (get %d[1]), (get %d[2]) }
//            %s = nest (i: N) -> collect[i] { yield array (get %s0[%i]), (get %s1[%i]), (get %s2[%i]) }
//
// Also if the numbers are the points of a last axis, `collect[i, d]`, and share quotients, roots or
// functions. Requires: verified Core without derivatives, orders not chosen. Keeps: values but for the order
// of sums; every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any sum changed.
bool scalariseReductions(core::Module& module);

} // namespace melix::transforms
