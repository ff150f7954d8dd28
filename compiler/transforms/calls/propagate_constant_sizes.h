#pragma once
// A size that is the same number at every call of a function is that number in it.
//
//   before:  fn f [N, M] (%x: f32[N], %y: f32[M]) … %n = dim_value dims [N]     all calls: dims [14, ·]
//   after:   fn f [M] (%x: f32[14], %y: f32[M]) … %n = const 14
//
// So that small arrays in it are of constant size, and its iterations are counted. Calls of a function pass a
// size on to further ones; recursion that keeps a size keeps a number. Functions that are called from outside
// stay as they are. Requires: verified Core without derivatives, in which whatever asks for literal sizes to
// choose a rounding has chosen: what a function computes may not depend on who else calls it. Keeps: every
// effect, in order; bits. What follows from the numbers is found by simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool fixSizes(core::Module& module);

} // namespace melix::transforms
