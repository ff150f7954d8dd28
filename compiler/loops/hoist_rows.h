#pragma once
// Blocks that live within one point of a sweep are made once, in front of it.
//
//   before:  for %i … { %r = alloc f32 %m : data  … write and read %r …  drop %r }
//   after:   %r = if begin < end { alloc f32 %m } else { null }   for %i … { … write and read %r … }   drop
//   %r
//
// Arrays of scalars whose sizes are known in front of the loop, which nothing but the point holds: no
// count of them is more than one, so what makes them unique is gone too. Requires: counts inserted, parallel
// loops outlined, so that every chunk has a block of its own. Keeps: values, every effect.

#include "loops/ir.h"

namespace melix::loops {

void hoistRows(const Module& module, Function& function);

} // namespace melix::loops
