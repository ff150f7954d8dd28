#pragma once
// Hoists allocations out of a loop: the first iteration that needs a block allocates it, and all reuse it.
//
//   before:  for %i … { … %r = alloc f32 %m   … write and read %r …   drop %r }
//   after:   %b, %d = for %i … null, false { %h %made
//              … %r = if %made { %h } { alloc f32 %m }   … write and read %r …   yield %r, true }
//            drop %b
//
// For arrays of scalars of the same size in every iteration, which nothing outside the iteration holds. Their
// count never exceeds one, so `ensure_unique` is removed too. Requires: counts inserted, and parallel loops
// outlined, so that every chunk has a block of its own. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void hoistAllocations(const Module& module, Function& function);

} // namespace melix::loops
