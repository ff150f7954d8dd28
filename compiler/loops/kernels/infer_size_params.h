#pragma once
// Parameters of chunks and kernels, of kind i64, for which no launch gives a negative number are sizes:
// whether an index is within an axis, `0 <= i and i < n`, is one comparison then.
//
//   before:  check "…" (cmp ge %n, 0), %n   launch @f.loop0 %n, %w, %n, %x
//            kernel @f.loop0(%0: i64, %1: i64, %n: i64, %x: data)
//   after:   kernel @f.loop0(%0: i64, %1: i64, size %n: i64, %x: data)
//
// A number is a size by what it is made of, but not as a sum or product, which may wrap; by a check in front
// of the launch; by a branch around it; or as such a parameter of the function that launches: dims that are
// sizes of arrays it is given are marked when it is lowered. Requires: launches are as they will be. Keeps:
// everything but the modes of parameters.

#include "loops/ir/ir.h"

namespace melix::loops {

void noteSizes(Module& module);

} // namespace melix::loops
