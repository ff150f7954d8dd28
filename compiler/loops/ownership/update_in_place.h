#pragma once
// Arrays that a function is given, updates and gives back are updated where its caller has them.
//
//   before:  fn f(own %p: data) -> data { … %u = ensure_unique %p   store %u[…] = …   yield %u }
//            %r = call f %x   … %r …
//   after:   fn f(inout %p: data) { … store %p[…] = …   yield }
//            %u = ensure_unique %x   call f %u   … %u …
//
// So a block is made unique once a call, and may lie in the frame of the caller. Parameters of which nothing
// but elements is used, and which are the same result on every path. Requires: counts inserted. Keeps:
// values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void updateInPlace(Module& module);

} // namespace melix::loops
