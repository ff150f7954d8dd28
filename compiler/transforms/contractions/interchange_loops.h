#pragma once
// Loop interchange: a loop in a nest over rows, whose turns take products of a row and a matrix, goes around
// the nest. Over all rows these are products of matrices (fission_products.h).
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
// What the turns need of a row is made of all rows in front, and checks that they make of what is read are a
// nest in front of that: the first row that fails is the same, at its first turn that does. It must be that
// all rows have as many turns, that these carry numbers, rows that a turn makes anew, or arrays of which it
// updates the same parts for all rows, and have no other effect. Loops stay of a few rows, of products in
// branches or of matrices that registers hold; where arrays of all rows would have more axes than what the
// nest gives; and where nothing has an element for each row, as of a sum over rows that are made of their
// index. Requires: verified Core without derivatives, orders not chosen. Keeps: values, every effect.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool interchangeLoops(core::Module& module);

} // namespace melix::transforms
