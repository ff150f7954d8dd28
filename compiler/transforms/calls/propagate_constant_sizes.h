#pragma once
// Propagates constant sizes between functions: a size that is the same number at every call becomes that
// number.
//
//   before:  fn f [N, M] (%x: f32[N], %y: f32[M]) … %n = dim_value dims [N]     all calls: dims [14, ·]
//   after:   fn f [M] (%x: f32[14], %y: f32[M]) … %n = const 14
//
// Small arrays in the function then have constant size, and its iterations are counted. Calls of a function
// pass a size on to further ones; recursion that keeps a size keeps a number. Functions that are called from
// outside stay as they are. Requires: verified Core without derivatives, in which every pass that asks for
// literal sizes to choose a rounding has run: the result of a function may not depend on its other callers.
// Keeps: every effect, in order; bits. Simplify folds the values that follow from the numbers.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool propagateConstantSizes(core::Module& module);

} // namespace melix::transforms
