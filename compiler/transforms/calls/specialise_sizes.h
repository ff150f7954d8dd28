#pragma once
// Specialises recursive functions for constant sizes.
//
//   before:  %d = call @det %a dims [3]           @det calls itself with dims [N - 1]
//   after:   %d = call @"det [3]" %a              which calls @"det [2]", that @"det [1]", that @"det [0]"
//
// A call, or a derivative of one, with constant sizes goes to a copy of the callee for these sizes. Recursion
// must be reachable from there, and sizes must end it. The reachable copies must be at most `mostInstances`,
// together of at most `mostInstanceOps`. Else the call stays as it is. The decision depends on the callee and
// the sizes alone. Copies whose calls and iterations can all be unrolled are straight code then
// (transforms/calls/unroll_functions.h), so that derivatives are made of that. Traces name the function as it
// is written. Requires: verified Core. Keeps: every effect, in order. Functions that nothing reaches
// afterwards lose their bodies.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr unsigned mostInstances = 16;     ///< that one call may lead to
constexpr unsigned mostInstanceOps = 8192; ///< of all these

void specialiseSizes(core::Module& module);

} // namespace melix::transforms
