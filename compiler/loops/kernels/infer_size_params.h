#pragma once
// Infers size parameters: i64 parameters of chunks and kernels for which no launch passes a negative number.
// The test whether an index is within an axis, `0 <= i and i < n`, is then one comparison.
//
//   before:  check "…" (cmp ge %n, 0), %n   launch @f.loop0 %n, %w, %n, %x
//            kernel @f.loop0(%0: i64, %1: i64, %n: i64, %x: data)
//   after:   kernel @f.loop0(%0: i64, %1: i64, size %n: i64, %x: data)
//
// A number is a size for one of these reasons:
// (1) Its definition: it is never negative. Sums and products do not count, as they may wrap.
// (2) A check before the launch.
// (3) A branch around the launch.
// (4) It is a size parameter of the launching function. Dims that are sizes of its array parameters are
//     marked when it is lowered.
//
// Requires: launches are in their final form. Keeps: everything but the modes of parameters.

#include "loops/ir/ir.h"

namespace melix::loops {

void inferSizeParams(Module& module);

} // namespace melix::loops
