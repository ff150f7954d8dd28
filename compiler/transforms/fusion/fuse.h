#pragma once
// Fuses nests, so that values that one makes and the next reads do not go through memory.
//
//   before:  %a = nest (%i: N) -> collect[i] { … }   %s = nest (%i: N, %k: K) -> keep[i] sum { … get %a[%i] …
//   }
//            %y = nest (%i: N, %j: K) -> collect[i, j] { … get %s[%i] … }
//   after:   %y = nest (%i: N) -> collect[i] { …   %s = nest (%k: K) -> keep[] sum { … }
//                                              %r = nest (%j: K) -> collect[j] { … %s … }   yield %r }
//
// Three steps, which the tests run one by one:
// 1. The body of a nest moves to its readers (fuse_into_reader.h).
// 2. A nest becomes one with its reader over the same leading axes (fuse_nests.h).
// 3. Independent nests over the same leading axes become one (fuse_nests.h).
// One cost function determines the gain (cost_model.h). Each step leaves fewer arrays in memory, or fewer
// nests over the same arrays. Requires: verified Core without derivatives, sums without an order. Keeps:
// bits; effects, in order. If orders of sums are chosen later from the accesses of a term, the orders in
// fused nests differ.

#include "core/ir/ir.h"
#include "transforms/fusion/fusion_log.h"

namespace melix::transforms {

/// The steps that `fuseOnce` takes.
struct FusionSteps {
  bool reads = true, intoConsumer = true, siblings = true;
};

/// Fuses until nothing changes, in canonical form; records the decisions if `log` is given. Whether anything
/// changed.
bool fuse(core::Module& module, FusionLog* log = nullptr);

/// Once over all functions; whether anything changed.
bool fuseOnce(core::Module& module, FusionSteps steps, FusionLog* log = nullptr);

} // namespace melix::transforms
