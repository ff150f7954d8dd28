#pragma once
// Zeros stand in front of what takes them over, so that nobody copies one to write to it.
//
//   before:  %z = zero : f64[3]            nest (%i: N) -> … { %y = nest (%j: 3) -> accs (%a = %z) { … } … }
//   after:   nest (%i: N) -> … { %z = zero : f64[3]   %y = nest (%j: 3) -> accs (%a = %z) { … } … }
//
// What takes an aggregate over is an update of a part, a parameter that its function updates, and an
// accumulator or a carry that the body takes over in turn, not only in an arm: what may never write keeps the
// zero of all. Requires: verified Core. Keeps: values, effects.

#include "core/ir/ir.h"

namespace melix::transforms {

void renewZeros(core::Module& module);

} // namespace melix::transforms
