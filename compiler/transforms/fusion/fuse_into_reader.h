#pragma once
// Fuses a nest that collects into its readers: its body is computed where its elements are read.
//
//   before:  %y = nest (%i: N) -> collect[i] { %a = get %x[%i]  %b = mul %a, %c  yield %b }
//            %z = nest (%j: N) -> collect[j] { %d = get %y[%j]  %e = add %d, %d  yield %e }
//   after:   %z = nest (%j: N) -> collect[j] { %a = get %x[%j]  %b = mul %a, %c  %e = add %b, %b  yield %e }
//
// Every use of the nest reads a single element, and recomputation costs less than memory
// (transforms/analysis/cost_model.h): each element is read for at most one point of every reader, or for few.
// Reads at the same place are one. A nest that may panic goes only to a place where all its points run in
// their order, and no other op has effects. A nest does not move across input, output and assertions, nor
// past updates of an array that it reads. Requires: verified Core. Keeps: bits, effects in their order;
// unused values are left to simplify.

#include "transforms/fusion/fusion.h"

namespace melix::transforms {

/// The nest is an op of the block at hand; if it could be done, it is gone.
FusionAnswer inlineRead(Fusion& fusion, core::OpId nest);

} // namespace melix::transforms
