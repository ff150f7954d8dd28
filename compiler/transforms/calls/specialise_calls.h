#pragma once
// Specialises functions for the closures passed to them: a copy of the function for each closure it is given,
// with the closure's captures as parameters instead. The function values that remain are data.
//
//   before:  %g = closure @double %k   %r = call @twice %g, %x        @twice calls apply %g
//   after:   %r = call @"twice(double)" %k, %x                        the copy calls @double
//
// A derivative of `apply` depends on every closure of that type that is stored anywhere; a derivative of a
// copy only on the closures passed. Requires: verified Core. Closures of closures are followed a few levels;
// deeper ones stay data. Functions that nothing reaches afterwards lose their bodies.

#include "core/ir/ir.h"

namespace melix::transforms {

void specialiseCalls(core::Module& module);

} // namespace melix::transforms
