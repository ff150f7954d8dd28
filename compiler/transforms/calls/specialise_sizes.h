#pragma once
// Recursion over sizes that are known becomes functions of those sizes.
//
//   before:  %d = call @det %a dims [3]           @det calls itself with dims [N - 1]
//   after:   %d = call @"det [3]" %a              which calls @"det [2]", that @"det [1]", that @"det [0]"
//
// A call, or a derivative of one, with constant sizes goes to a copy of the callee for these sizes if
// recursion may be reached from there, if sizes end it, and if all that is reached so takes at most
// `mostInstances` copies, together of at most `mostInstanceOps`; else it stays as it is. Whether it does
// depends on the callee and the sizes alone. Copies whose calls and iterations can all be written out are
// straight code then (transforms/calls/unroll_functions.h), so that derivatives are made of that. Traces name
// the function as it is written. Requires: verified Core. Keeps: every effect, in order. Functions that
// nothing reaches afterwards lose their bodies.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr unsigned mostInstances = 16;     ///< that one call may lead to
constexpr unsigned mostInstanceOps = 8192; ///< of all these

void specialiseSizes(core::Module& module);

} // namespace melix::transforms
