#pragma once
// Predicates a sum of terms of two operands, such as a product, if every reader of it selects by the same
// mask. A mask that is applied after `a @ b`
// then costs as much as one that is applied where the scores are made.
//
//   before:  %s = nest (t: T, u: U, e: E) -> keep[t, u] sum { … }
//            … %c = cmp le %b, %a   %q = select %c, (div %s[%a, %b], %r), -inf …
//   after:   %s = nest (t: T, u: U) -> collect[t, u] { %m = cmp le %u, %t
//              %p = if %m { nest (e: E) -> keep[] sum { … } } { 0 }   yield %p }
//
// Uses are followed through elementwise nests that collect to the `select`. Its condition may use only values
// that are known where the product is made. Requires: verified Core, orders not chosen. Keeps: bits, every
// effect.

#include "core/ir/ir.h"

namespace melix::transforms {

void predicateByConsumer(core::Module& module);

} // namespace melix::transforms
