#pragma once
// Defunctionalises: function values become enums, and their calls go to a function that matches on the cases.
//
//   before:  %g = closure @f.lambda %w dims [N] : fn(f32[N]) -> f32       %y = apply %g, %x : f32
//   after:   %g = variant 0 %n, %w_packed : Closure[N]                     %y = call @apply_Closure %g, %x
//   dims [N] : f32
//
// Each function type becomes one enum (up to its dimensions, which become dimensions of the enum), each
// callee one case. A case holds the callee's dimension arguments as numbers and the captures, whose own dims
// are hidden. Requires: verified Core. Guarantees: no `closure`, no `apply` and no function type is left.

#include "core/ir/ir.h"

namespace melix::transforms {

void defunctionalise(core::Module& module);

} // namespace melix::transforms
