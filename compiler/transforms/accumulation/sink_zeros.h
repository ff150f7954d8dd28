#pragma once
// Sinks zeros to the op that consumes them, so that no zero is copied before it is written.
//
//   before:  %z = zero : f64[3]            nest (%i: N) -> … { %y = nest (%j: 3) -> accs (%a = %z) { … } … }
//   after:   nest (%i: N) -> … { %z = zero : f64[3]   %y = nest (%j: 3) -> accs (%a = %z) { … } … }
//
// Three kinds of operands consume an aggregate:
// 1. The target of an update of a part.
// 2. A parameter that its function updates.
// 3. An accumulator or a carry that the body consumes in turn, not only in one arm.
// A zero that may stay unwritten remains shared. Requires: verified Core. Keeps: values, effects.

#include "core/ir/ir.h"

namespace melix::transforms {

void sinkZeros(core::Module& module);

} // namespace melix::transforms
