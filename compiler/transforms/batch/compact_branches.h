#pragma once
// Compacts branches of a nest over rows: an arm with a product of a row and a matrix runs over the rows that
// take it, which are put together first. Over these rows it is a product of matrices (fission_products.h).
//
//   before:  %y = nest (b: B) -> collect[b] {
//              %c = cmp gt (get %x[%b, 0]), 0
//              %r = if %c { %u = nest (j: D, k: D) -> keep[j] sum { … get %h[%b, %k] … get %w[%k, %j] … }
//                           yield %u } { yield %z }
//              … %r … }
//   after:   %on = nest (b: B) -> filter defines [m] { yield %c, %b }
//            %u = nest (i: m) -> collect[i] { %b = get %on[%i]   nest (j: D, k: D) -> keep[j] sum { … } }
//            %n = for collects 1 B, 0 { … }                // by row: how many before it are in %on
//            %y = nest (b: B) -> collect[b] { %r = if %c { yield (get %u[get %n[%b]]) } { yield %z }   … %r …
//            }
//
// A value of its row that a compacted arm needs becomes an array of all rows before, if it costs more than a
// read. Arms without such a product stay where they are. So does a branch in each of these cases:
// 1. Its condition is the same for all rows.
// 2. The nest has another effect than checks that can move before it (row_checks.h).
// 3. It matches an enum, or gives other values than numbers and arrays of them, of sizes known outside.
// 4. Its nest stands in another nest, or sorts out rows, or adds to accumulators.
// Requires: verified Core without derivatives, orders not chosen. Keeps: values, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any branch was compacted.
bool compactBranches(core::Module& module);

} // namespace melix::transforms
