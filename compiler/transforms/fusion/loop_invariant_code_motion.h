#pragma once
// Hoists values that do not vary with the innermost axes out of the sweep over them.
//
//   before:  %r = nest (i: N, k: K) -> … { %e = math exp %x[i]   %p = mul %e, %y[k] … }
//   after:   %t = nest (i: N) -> collect[i] { %e = math exp %x[i]   yield %e }
//            %r = nest (i: N, k: K) -> … { %e = get %t[i]   %p = mul %e, %y[k] … }
//
// A value that varies with no axis of a nest, and no carry of a loop, moves before it. A value that varies
// with some axes of a nest, and is expensive (cost_model.h) or collected along all these axes, becomes a nest
// of its own. Only code without effects moves, and no op leaves a branch. Requires: verified Core.

#include "core/ir/ir.h"

namespace melix::transforms {

void hoistAxisInvariants(core::Module& module);

} // namespace melix::transforms
