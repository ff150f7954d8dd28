#pragma once
// Functions passed to functions become part of the function called: a copy of it for each closure it is
// given, which takes the closure's captures instead. What is left of function values is data.
//
//   before:  %g = closure @double %k   %r = call @twice %g, %x        @twice calls apply %g
//   after:   %r = call @"twice(double)" %k, %x                        the copy calls @double
//
// A derivative of `apply` speaks of every closure of that type that is stored anywhere; one of a copy only of
// what was passed. Requires: verified Core. Closures of closures are followed a few levels; what is deeper
// stays data. Functions that nothing reaches afterwards lose their bodies.

#include "core/ir/ir.h"

namespace melix::transforms {

void specialiseCalls(core::Module& module);

} // namespace melix::transforms
