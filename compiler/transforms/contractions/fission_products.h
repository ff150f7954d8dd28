#pragma once
// Takes products of a row and a matrix out of nests over the rows: over all rows they are products of
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
// What stands between two products is a nest too, and what nothing but the end of the body needs stays with
// it. Rows are arrays of numbers of all rows then, of which only strips are made
// (loops/strip_mining/fuse_by_strips.h). So nests stay whose points may fail, but for checks of what is read,
// which are a nest in front; which sort, scan or loop; which a point of another nest reduces; and products of
// which a point reads single elements. Sizes are those of all rows, of which there are four or more.
// Requires: verified Core without derivatives, orders not chosen. Keeps: values.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether there were any.
bool separateProducts(core::Module& module);

} // namespace melix::transforms
