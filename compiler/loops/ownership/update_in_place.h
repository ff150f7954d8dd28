#pragma once
// Converts parameters that a function takes, updates and returns to in-place updates of the caller's array.
//
//   before:  fn f(own %p: data) -> data { … %u = ensure_unique %p   store %u[…] = …   yield %u }
//            %r = call f %x   … %r …
//   after:   fn f(inout %p: data) { … store %p[…] = …   yield }
//            %u = ensure_unique %x   call f %u   … %u …
//
// So a block is made unique once a call, and may lie in the caller's frame. For parameters of which only
// elements are used, and which are the same result on every path. Requires: counts inserted. Keeps: values,
// every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void updateInPlace(Module& module);

} // namespace melix::loops
