#pragma once
// Predicates a sum of products by the mask that makes one factor zero. Softmax maps scores of -inf to 0 if
// the row has a greatest score, and 0 times a finite number is 0.
//
//   before:  %s = nest (t: T, u: U) -> collect[t, u] { … select (cmp le %u, %t), %q, -inf }
//            %p = nest (t: T) -> collect[t] { %m = … max …   … math exp (sub %s[%t, %u], %m) … }
//            %y = nest (t: T, e: E, u: U) -> keep[t, e] sum { mul %p[%t, %u], %v[%u, %e] }
//   after:   %f = nest (u: U, e: E) -> keep[] and { cmp lt (abs %v[%u, %e]), inf }
//            %p, %b = nest (t: T) -> collect[t], collect[t] { …   not (cmp gt %m, -inf) }
//            %y = nest (t: T, e: E) -> collect[t, e] { %o = or (not %f), %b[%t]
//              nest (u: U) -> keep[] sum {
//                if (or (cmp le %u, %t), %o) { mul %p[%t, %u], %v[%u, %e] } { 0 } } }
//
// A factor that the body itself chooses, `(if %k >= %i { %a[%i, %k] } else { 0 }) * %b[%k, %j]`, has two
// versions of the sum. Where all of %b is finite the predicate is that of the product:
//
//   after:   %f = nest (k: K, j: J) -> keep[] and { cmp lt (abs %b[%k, %j]), inf }
//            %y = if %f { nest … sum { if (cmp ge %k, %i) { mul %a[%i, %k], %b[%k, %j] } { 0 } } }
//                       { nest … as before }
//
// The other factor is tested once for finite values, all of it. So it has to be read at several points, and
// at axes of nests alone, each as long as the array. Rows and sums leave out the masked terms
// (loops/index_sets/split_predicated.h). Where a row has no greatest score, or a number is not finite, all
// terms are summed. The ops that make the factors, and their checks, run at all points. Requires: verified
// Core, orders not chosen. Keeps: values; bits but for zeros' signs.

#include "core/ir/ir.h"

namespace melix::transforms {

void predicateByZeroFactor(core::Module& module);

} // namespace melix::transforms
