#pragma once
// Tabulates products of looked-up rows: all rows of an array are multiplied by a matrix once, before the nest
// that looks rows up, and the nest reads the products.
//
//   before:  %y = nest (v: V, e: E) -> … { %u = get %to[%v, %e]   %row = get %x[%u]
//              %p = nest (j: D) -> collect[j] { %s = nest (k: D) -> sum { … %row[%k] … %w[%k, %j] … } … } … }
//   after:   %t = nest (u: V) -> collect[u] { %row = get %x[%u]   … yield %p }
//            %y = nest (v: V, e: E) -> … { %u = get %to[%v, %e]   %p = get %t[%u] … }
//
// Applies where the array has no more rows than there are points around the product, as far as their number
// is known before the nest; where sizes tell at run time, an `if` on these. The product uses nothing else of
// the nest. One in a branch stays, as it may be computed for a few points only. Before
// derivatives the gradient has tables too: the cotangents of the products are added row by row, and one
// product of matrices gives the cotangent of the matrix. In a function that is differentiated the rows that
// nothing looks up count as zeros (lookup_counts.h): an infinity in one would make that product NaN.
// Requires: verified Core, sums without an order. Keeps: values up to the order of sums that is chosen later.

#include "transforms/batch/batching_log.h"

namespace melix::transforms {

/// Whether anything changed. Writes its decisions into a log, if one is given.
bool tabulateProducts(core::Module& module, BatchingLog* log = nullptr);

} // namespace melix::transforms
