#pragma once
// Finds values that a loop stores in elements of an array and that nothing overwrites: they can be read in
// the final array.
//
//   %y, … = for %n, %z { (%t, %x)
//     %s = nest (%k: t) -> keep[] sum { %v = get %x[%k] … }   where %k < %t: later iterations write elsewhere
//     %d = div %s, %w
//     %x' = set %x[%t] = %d   yield %x', … }
//
// %v is `get %y[%k]`, and %d is `get %y[%t]`. The reverse pass of a loop that fills an array, as solving and
// factoring do, then reads these values in the array. No residual is kept for each iteration.
//
// All later writes must be disjoint from them (disjoint_accesses.h).

#include "core/ir/uses.h"

#include <unordered_map>

namespace melix::transforms {

/// By values of the function: a `get` that gives them, of an array which nothing updates. It defines nothing.
std::unordered_map<core::ValueId, core::Op> finalValueReads(const core::Module& m, core::FunctionId f,
                                                            const core::Uses& uses);

} // namespace melix::transforms
