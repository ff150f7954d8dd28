#pragma once
// Products of which all who read them choose by one mask are sums under the mask: scores made by `@` and
// masked afterwards are as good as those that are masked where they are made.
//
//   before:  %s = nest (t: T, u: U, e: E) -> keep[t, u] sum { … }
//            … %c = cmp le %b, %a   %q = select %c, (div %s[%a, %b], %r), -inf …
//   after:   %s = nest (t: T, u: U) -> collect[t, u] { %m = cmp le %u, %t
//              %p = if %m { nest (e: E) -> keep[] sum { … } } { 0 }   yield %p }
//
// What is made of an element, and collected, is followed to the choice, which asks only what is known where
// the product is made. Requires: verified Core, orders not
// chosen. Keeps: bits, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

void maskUnread(core::Module& module);

} // namespace melix::transforms
