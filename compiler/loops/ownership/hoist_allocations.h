#pragma once
// Blocks that live within one point of a sweep are made by the first point that needs one, and serve all.
//
//   before:  for %i … { … %r = alloc f32 %m   … write and read %r …   drop %r }
//   after:   %b, %d = for %i … null, false { %h %made
//              … %r = if %made { %h } { alloc f32 %m }   … write and read %r …   yield %r, true }
//            drop %b
//
// Arrays of scalars of the same size at every point, which nothing but the point holds: no count of them is
// more than one, so what makes them unique is gone too. Requires: counts inserted, parallel loops outlined,
// so that every chunk has a block of its own. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void hoistRows(const Module& module, Function& function);

} // namespace melix::loops
