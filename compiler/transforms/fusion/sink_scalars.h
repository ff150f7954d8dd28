#pragma once
// Sinks scalars made of the results of a nest to their first use, so that they do not separate nests that may
// be fused.
//
//   before:  %s, %r = nest (%i: N) -> keep[] sum, collect[i] { … }    %t = mul %s, %u : f64
//            nest (%i: N) -> … { … get %r[%i] … }    %v = add %t, %w : f64
//   after:   %s, %r = nest (%i: N) -> keep[] sum, collect[i] { … }
//            nest (%i: N) -> … { … get %r[%i] … }    %t = mul %s, %u : f64    %v = add %t, %w : f64
//
// Only arithmetic without effects. Requires: verified Core. Keeps: everything but the order.

#include "core/ir/walk.h"

namespace melix::transforms {

void sinkScalars(core::Module& module, core::FunctionId f, const core::Effects& effects);

} // namespace melix::transforms
