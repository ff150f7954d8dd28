#pragma once
// Sums of products one factor of which a mask made 0 are sums under the mask, where nothing says otherwise:
// what softmax gives of scores that are -inf is 0 if the row has a greatest one, and 0 times a number is 0.
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
// All of the other factor is looked at, once, so only where it is read at several points, and at axes of
// nests alone, each as long as the array; rows and sums leave out what the mask does
// (loops/index_sets/split_predicated.h). Where a row has no greatest score, or a number is not finite, all
// terms are there. What makes the factors, and its checks, runs at all points. Requires: verified Core,
// orders not chosen. Keeps: values; bits but for zeros' signs.

#include "core/ir/ir.h"

namespace melix::transforms {

void maskZeros(core::Module& module);

} // namespace melix::transforms
