#pragma once
// Numbers that no launch of a chunk or kernel gives as negative ones are sizes of it: whether an index is
// within an axis is one comparison then.
//
//   before:  check "…" (cmp ge %n, 0), %n   launch @f.loop0 %n, %w, %n, %x
//            kernel @f.loop0(%0: i64, %1: i64, %n: i64, %x: data)
//   after:   kernel @f.loop0(%0: i64, %1: i64, size %n: i64, %x: data)
//
// A number is a size by what it is made of, by a check in front of the launch, or by a branch around it.
// Requires: launches are as they will be. Keeps: everything but the modes of parameters.

#include "loops/ir.h"

namespace melix::loops {

void noteSizes(Module& module);

} // namespace melix::loops
