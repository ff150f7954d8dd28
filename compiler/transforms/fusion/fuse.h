#pragma once
// Puts nests together, so that what one makes and the next reads does not go through memory.
//
//   before:  %a = nest (%i: N) -> collect[i] { … }   %s = nest (%i: N, %k: K) -> keep[i] sum { … get %a[%i] …
//   }
//            %y = nest (%i: N, %j: K) -> collect[i, j] { … get %s[%i] … }
//   after:   %y = nest (%i: N) -> collect[i] { …   %s = nest (%k: K) -> keep[] sum { … }
//                                              %r = nest (%j: K) -> collect[j] { … %s … }   yield %r }
//
// Three steps, each on its own in the tests: bodies go to where they are read (fuse_into_reader.h), nests
// over the same leading axes become one, reading one another or not (fuse_nests.h). One cost function says
// what is worth it (cost_model.h). Each step leaves fewer arrays in memory, or fewer nests over the same
// ones. Requires: verified Core without derivatives, sums without an order. Keeps: bits; effects, in order.
// Where orders of sums are chosen later from the accesses of a term, those of joined nests differ.

#include "core/ir/ir.h"
#include "transforms/fusion/fusion_log.h"

namespace melix::transforms {

/// Which steps are taken.
struct FusionSteps {
  bool reads = true, outer = true, siblings = true;
};

/// Until nothing changes, in canonical form; what is decided is written down if `log` is given.
void fuse(core::Module& module, FusionLog* log = nullptr);

/// Once over all functions; whether anything changed.
bool fuseOnce(core::Module& module, FusionSteps steps, FusionLog* log = nullptr);

} // namespace melix::transforms
