#pragma once
// Moves what does not vary with the innermost axes out of the sweep over them.
//
//   before:  %r = nest (i: N, k: K) -> … { %e = math exp %x[i]   %p = mul %e, %y[k] … }
//   after:   %t = nest (i: N) -> collect[i] { %e = math exp %x[i]   yield %e }
//            %r = nest (i: N, k: K) -> … { %e = get %t[i]   %p = mul %e, %y[k] … }
//
// What varies with no axis of a nest, and no carry of a loop, moves in front of it. What varies with some
// axes of a nest and is dear (cost_model.h), or collected along all of them, becomes a nest of its own.
// Only code without effects moves, and nothing leaves a branch. Requires: verified Core.

#include "core/ir/ir.h"

namespace melix::transforms {

void hoistAxes(core::Module& module);

} // namespace melix::transforms
