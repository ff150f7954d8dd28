#pragma once
// Converts scatters to gathers: adds into the accumulators of a nest become dense reductions.
//
//   before:  %h1 = nest(b: B, i: I, o: O) accs(%h = zero) { %h' = add_at %h[i, o] += %v; yield ; %h' }
//   after:   %h1 = nest(i: I, o: O, b: B) -> keep[i, o] sum { yield %v }
//
// The rules, by the form of the index:
// - A1 projection: every index is an axis of its own.
// - A2 unit elimination: an index `±a + r` becomes the axis, and `a` is solved for. Where `a` is out of range
//   the term is zero.
// - A3 mixed radix: `c·a + b` with b < c likewise, by quotient and remainder. `c·a` alone, or with a larger
//   b, has terms where `c` divides the place less `b`.
// - A4 quotients: `a / c` and `a % c` are an axis each, and `a` is computed from both.
// - A5 indices that data determines, as the position of a maximum: an axis runs over all values that the
// place can have. The
//   term counts where the axis is the place.
// - A6 kept part: the remaining adds, if some index is an axis, become a nest of their own. Its kept axes
//   stand first, and its accumulator stays.
// - A7: everything else stays as it is. A nest with accumulators runs in order.
//
// A4 and A5 apply only if few terms are masked out. The number of points of an axis may be a form of
// the axes around it, as in a triangle. Such an axis is solved for first, or is padded to the longest
// extent, and terms past its end are zero.
//
// An expensive value (calls, loops, math) that several of the new nests need is stored once, as a further
// result of the first nest. Two kinds of values need a strict subset of the axes and are recomputed:
// 1. A few elementary functions of arrays that are read at fewer indices than the nest has axes.
// 2. Rows of such values, which are made where nests around the add read their elements.
//
// A function, a loop or a nest that stays may pass an accumulator to the nest. The sum is then added to it
// once, as a whole. The sum has to have several terms, and to cover all elements along the axes. In a loop,
// terms that have a place of their own each, and use no updated value, are added at their places, with the
// axes in their order.
//
// Requires: verified Core. Keeps: values up to the order of float sums.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool scatterToGather(core::Module& module);

} // namespace melix::transforms
