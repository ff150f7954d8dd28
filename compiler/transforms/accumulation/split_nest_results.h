#pragma once
// Splits a nest whose results keep different axes: each result becomes a nest of its own, with its own order
// of reduction.
//
//   before:  %a, %b = nest(i: N, j: M) -> keep[i] sum, keep[j] sum { … }
//   after:   %a = nest(i: N, j: M) -> keep[i] sum { … }   %b = nest(i: N, j: M) -> keep[j] sum { … }
//
// Only where the body is scalar work without effects, so that doing it twice is cheap. Run after derivatives,
// which are smaller while the results share a sweep; requires verified Core.

#include "core/ir/ir.h"

namespace melix::transforms {

void splitNestResults(core::Module& module);

} // namespace melix::transforms
