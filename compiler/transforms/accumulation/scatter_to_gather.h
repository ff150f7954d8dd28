#pragma once
// Turns adds into the accumulators of a nest back into dense work.
//
//   before:  %h1 = nest(b: B, i: I, o: O) accs(%h = zero) { %h' = add_at %h[i, o] += %v; yield ; %h' }
//   after:   %h1 = nest(i: I, o: O, b: B) -> keep[i, o] sum { yield %v }
//
// A1 projection: every index is an axis of its own. A2 unit elimination: an index `±a + r` becomes the axis
// and `a` is solved for; where that is out of range the term is zero. A3 mixed radix: `c·a + b` with b < c
// likewise, by quotient and remainder; with other steps, and multiples alone, those that fit are terms. A4
// quotients: of `a / c` and `a % c` each is an axis, and `a` is made of both. A5 places that are found, as
// that of a maximum: an axis stands for all that it can be, and there is a term where it is the one. An axis
// whose number of points is a form of the axes around it, as of a triangle, is solved for first, or is one as
// long as the longest; terms past its end are zero. A4 and A5 only where few terms are asked for in vain. A6
// kept part: what is left, if some index is an axis, becomes a nest of its own whose kept axes stand first;
// its accumulator stays. A7: everything else stays as it is; a nest with accumulators runs in order. What
// several of the new nests need and is dear (calls, loops, math) is kept by the first nest as a further
// result, but for what is made of less than that would be: a few elementary functions of arrays that are read
// at fewer indices than the nest has axes, and rows of such, which are made where nests around the add read
// their elements. An accumulator that a function, a loop or a nest that stays hands to the nest is added to
// once, the sum as a whole: only where that is of several terms, and for all elements along the axes. In a
// loop, terms that each have a place of their own, and are made of nothing that is updated, are added where
// these lie, the axes in their order. Requires: verified Core. Keeps: values up to the order of float sums.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool accumulateToReduce(core::Module& module);

} // namespace melix::transforms
