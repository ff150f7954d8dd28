#pragma once
// Unrolls all loops and nests of functions with few iterations, and inlines their calls, so that they become
// straight code.
//
//   before:  %s = nest (%j: 2) -> keep[] sum { %x = get %a[%j] : f64  %m = call @double %x : f64  yield %m }
//   after:   %z = const 0.0 : f64  %0 = const 0 : i64  %x = get %a[%0] : f64  %m = add %x, %x : f64
//            %t = add %z, %m : f64  … the same of element 1
//
// Tried for each of the given functions, callees first. All its nests and loops must have constant extents.
// All its calls must be of functions that are straight code or become it here. The result must be at most
// `longestStraight` ops without a nest, a loop or a call. Else the function stays as it is. Arrays that only
// hold intermediate results become scalars then (transforms/canonical/scalarise_elements.h). Sums and
// products of floats are added in order, one after another from the unit. Requires: verified Core, sums
// without an order. Keeps: every effect, in order.

#include "core/ir/ir.h"

#include <span>

namespace melix::transforms {

constexpr unsigned longestStraight = 512; ///< ops of a function that is written out

void unroll(core::Module& module, std::span<const core::FunctionId> functions);

} // namespace melix::transforms
