#pragma once
// Converts a `while` whose trip count is known before it to a `for`.
//
//   before:  %h1, %t1 = while %h0, %t0 { (%h, %t) yield cmp lt %t, %n } { (%h, %t)
//              … get %x[%t] …   %t' = add %t, 1   yield %h', %t' }
//   after:   %c = %n - %t0
//            %h1 = for %c, %h0 { (%i, %h) %t = add %t0, %i … get %x[%t] …   yield %h' }
//            %t1 = add %t0, %c
//
// The condition compares a carried i64 with a number from before the loop, and does nothing else. Each
// iteration adds a constant below 2^20 to the carried number, towards the other: 1 where one is below the
// other, else the other is a size or a constant, so that the sum does not wrap. A loop that would run 2^63
// times and more ends after 2^63 - 1. A trip count below 0 counts as 0. Requires: verified Core. Keeps:
// values, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any loop changed.
bool whileToFor(core::Module& module);

} // namespace melix::transforms
