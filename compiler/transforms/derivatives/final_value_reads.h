#pragma once
// Elements of arrays that nothing writes any more: the array as it is in the end has them too.
//
//   %y, … = for %n, %z { (%t, %x)
//     %s = nest (%k: t) -> keep[] sum { %v = get %x[%k] … }   where %k < %t: later turns write elsewhere
//     %d = div %s, %w
//     %x' = set %x[%t] = %d   yield %x', … }
//
// %v is `get %y[%k]`, and %d is `get %y[%t]`. What the way back asks for of a loop that fills an array, as
// solving and factoring do, is then read in the array, and nothing is kept of each turn.
//
// All that is written later has to lie apart (disjoint_accesses.h).

#include "core/ir/uses.h"

#include <unordered_map>

namespace melix::transforms {

/// By values of the function: a `get` that gives them, of an array which nothing updates. It defines nothing.
std::unordered_map<core::ValueId, core::Op> settledReads(const core::Module& m, core::FunctionId f,
                                                         const core::Uses& uses);

} // namespace melix::transforms
