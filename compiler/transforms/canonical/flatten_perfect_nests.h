#pragma once
// A nest whose body is one nest is one nest.
//
//   before:  %r = nest (%i: N) -> collect[i] { %s = nest (%k: K) -> keep[] sum { … }  yield %s }
//   after:   %r = nest (%i: N, %k: K) -> keep[i] sum { … }
//
// The outer one collects; what the inner one reduces is reduced over the same terms in the same order.
// Constants and sizes in front of the inner one go into its body. Requires: verified Core, sums without an
// order. Keeps: every effect, in order; bits.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool mergePerfect(core::Module& module);

} // namespace melix::transforms
