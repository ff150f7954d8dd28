#pragma once
// Batches ops in the body of a nest over rows: loops, branches and calls with products of a row and a matrix,
// and products by a matrix that the row chooses, run for all rows at once. Over all rows these are products
// of matrices, which stand in nests of their own then (fission_products.h). A nest is one over rows if it has
// more than a few points.
//
//   loops     interchanged with the nest (batched_loop.h). Rows of their own trip counts run in the order of
//             falling counts. Rows of a `while` are compacted when some of them end.
//   branches  an arm runs over the rows that take it (batched_branch.h)
//   calls     the callee has an instance over rows (batched_call.h)
//   products  by a matrix that the row chooses: rows with one choice are put together (chosen_sides.h)
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
// Nests before make the values that these ops need of a row, for all rows. Checks of values that are read
// become a nest before those. The first row that fails stays the same, at its first iteration that fails. If
// other checks are in the way, and nothing but checks has an effect, a copy of the nest is batched, which
// gives whether all hold (speculated_nest.h). A loop, branch or call stays in each of these cases:
// 1. It is at few rows, or its products have matrices that fit in registers.
// 2. A row has an effect other than a check in it; or may fail in it, and adds to accumulators.
// 3. It carries, needs or gives a value that becomes no array of all rows: an array of a size of the row, or
//    one of which rows update different parts.
// 4. Arrays of all rows would have more axes than the results of the nest.
// 5. Branches, calls and products by chosen matrices: the nest stands in another nest.
// Requires: verified Core without derivatives, orders not chosen. Keeps: values, every effect. `batchSums`
// changes the order of the terms of accumulators: iteration by iteration, in each the rows in the order in
// which it takes them.

#include "transforms/batch/batching_log.h"

namespace melix::transforms {

/// Whether anything changed. Writes its decisions into a log, if one is given.
bool batchRows(core::Module& module, BatchingLog* log = nullptr);
/// The same, also for loops, branches and calls in which rows add to accumulators, and for matrices that rows
/// add (row_adds.h).
bool batchSums(core::Module& module, BatchingLog* log = nullptr);

} // namespace melix::transforms
