#pragma once
// Distributes a nest over rows around its products of a row and a matrix. Over all rows these are products of
// matrices, which tiles compute.
//
//   before:  %y = nest (t: T) -> collect[t] {
//              %w = nest (s: S, k: K) -> keep[s] sum { … get %q[%t, %k] … get %m[%s, %k] … }
//              %e = nest (s: S) -> collect[s] { … get %w[%s] … }
//              %r = nest (d: D, s: S) -> keep[d] sum { … get %e[%s] … get %v[%s, %d] … }
//              yield %r }
//   after:   %w = nest (t: T) -> collect[t] { nest (s: S, k: K) -> keep[s] sum { … } … }
//            %e = nest (t: T) -> collect[t] { nest (s: S) -> collect[s] { … get %w[%t, %s] … } … }
//            %r = nest (t: T) -> collect[t] { nest (d: D, s: S) -> keep[d] sum { … get %e[%t, %s] … } … }
//
// The ops between two products become a nest too. Ops that only the end of the body needs stay with it.
// Intermediate rows become arrays of all rows, of which strips alone are stored
// (loops/strip_mining/fuse_by_strips.h). A nest stays in each of these cases:
// 1. Its points may fail, except by checks of values that are read, which become a nest before it.
// 2. A nest in it filters, or adds to accumulators.
// 3. A point of another nest reduces it.
// 4. A point reads single elements of its product.
// Sizes have to be the sizes of all rows, and there are four rows or more. Requires: verified Core without
// derivatives, orders not chosen. Keeps: values.

#include "transforms/batch/batching_log.h"

namespace melix::transforms {

/// Whether any nest changed. Writes its decisions into a log, if one is given.
bool fissionProducts(core::Module& module, BatchingLog* log = nullptr);

} // namespace melix::transforms
