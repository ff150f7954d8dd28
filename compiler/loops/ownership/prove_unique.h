#pragma once
// Eliminates uniqueness tests of blocks that are known to have one owner.
//
//   before:  %r = for %a, %b, %x { (%i, %p) %u = ensure_unique %p   store %u[%i] = …   yield %u }
//   after:   %c = cmp lt %a, %b
//            %y = if %c { %u = ensure_unique %x   yield %u } { yield %x }
//            %r = for %a, %b, %y { (%i, %p) store %p[%i] = …   yield %p }
//
// A block is unique from its allocation, or from where it is made unique, on. Branches and loops that only
// pass on unique blocks keep this, as long as no statement takes it that may keep it. A block that the first
// iteration always updates is made unique before the loop, if the loop runs: a loop without an iteration
// copies nothing. For a `while`, this is done only if its condition has only arithmetic and memory accesses.
// Linear in the statements.
// Requires: counts inserted. Keeps: values, every effect.

#include "loops/ir/ir.h"

namespace melix::loops {

void proveUnique(Module& module);

} // namespace melix::loops
