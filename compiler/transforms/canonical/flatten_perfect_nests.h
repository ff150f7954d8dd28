#pragma once
// Flattens perfect nests: a nest whose body is one nest becomes one nest with it.
//
//   before:  %r = nest (%i: N) -> collect[i] { %s = nest (%k: K) -> keep[] sum { … }  yield %s }
//   after:   %r = nest (%i: N, %k: K) -> keep[i] sum { … }
//
// The outer nest collects. The inner reductions keep their terms and their order. Constants, sizes and
// index arithmetic before the inner nest go into its body; so do indices that are read, if the inner nest
// gives rows of sums. Requires: verified Core, sums without an order.
// Keeps: every effect, in order; bits.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool flattenPerfectNests(core::Module& module);

} // namespace melix::transforms
