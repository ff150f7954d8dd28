#pragma once
// Blocks that are known to have one owner are not asked for it each time they are updated.
//
//   before:  %r = for %a, %b, %x { (%i, %p) %u = ensure_unique %p   store %u[%i] = …   yield %u }
//   after:   %c = cmp lt %a, %b
//            %y = if %c { %u = ensure_unique %x   yield %u } { yield %x }
//            %r = for %a, %b, %y { (%i, %p) store %p[%i] = …   yield %p }
//
// A block is unique from where it is made, or made so, on: through branches and loops that pass on nothing
// but such, as long as nothing takes it that may keep it. What the first turn of a loop updates whatever
// happens is made unique in front of the loop, if it turns: a loop without a turn copies nothing. Of a
// `while`, this is done where its condition is only arithmetic and memory. Linear in the statements.
// Requires: counts inserted. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void proveUnique(Module& module);

} // namespace melix::loops
