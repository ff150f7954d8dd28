#pragma once
// Elides the copy of bytes that a loop overwrites.
//
//   before:  %u = ensure_unique %x
//            for %a, %b { (%i) … store %u[%i*%1] = %v }
//   after:   %f = mul %a, %4   %t = mul %b, %4
//            %u = ensure_unique %x, %f, %t             the bytes between are as they may be
//            for %a, %b { (%i) … store %u[%i*%1] = %v }
//
// Every iteration stores a whole element, and none reads the block. Exception: if the source of the copy
// stays alive, an iteration may read the element that it stores, and reads it from the source. Requires:
// invariant carries dropped. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void elideOverwrittenCopies(Function& function);

} // namespace melix::loops
