#pragma once
// Interchanges a nest over rows with a loop in it whose iterations compute products of a row and a matrix.
// Over all rows these are products of matrices (fission_products.h).
//
//   before:  %y = nest (b: B) -> collect[b] {
//              %h = for %n, %h0, collects 1 { (%t, %h)
//                %p = nest (%j: H, %k: H) -> keep[j] sum { … get %h[%k] … get %u[%k, %j] … }
//                %g = nest (%j: H) -> collect[j] { … get %p[%j] … get %x[%b, %t, %j] … }
//                yield %g, %g } … }
//   after:   %i = nest (b: B) -> collect[b] { yield %h0 }
//            %h, %s = for %n, %i, collects 1 { (%t, %h)
//              %g = nest (b: B) -> collect[b] { … get %h[%b] … }
//              yield %g, %g }
//            %y = nest (b: B) -> collect[b] { … get %h[%b], get %s[:, %b] … }
//
// Nests before the loop make the values that the iterations need of a row, for all rows. The iterations'
// checks of values that are read become a nest before those. The first row that fails stays the same, at its
// first iteration that fails. Requirements on the loop:
// 1. All rows have the same trip count.
// 2. The iterations carry numbers, rows that each iteration makes anew, or arrays of which they update the
//    same parts for all rows.
// 3. They have no other effect.
// A loop stays in each of these cases:
// 1. It is over few rows.
// 2. Its products are in branches, or their matrices fit in registers.
// 3. Arrays of all rows would have more axes than the results of the nest.
// 4. No array has an element for each row, as in a sum over rows that are made of their index.
// Requires: verified Core without derivatives, orders not chosen. Keeps: values, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether any loop changed.
bool interchangeLoops(core::Module& module);

} // namespace melix::transforms
