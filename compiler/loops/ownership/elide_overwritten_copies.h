#pragma once
// What a loop overwrites is not copied in front of it.
//
//   before:  %u = ensure_unique %x
//            for %a, %b { (%i) … store %u[%i*%1] = %v }
//   after:   %f = mul %a, %4   %t = mul %b, %4
//            %u = ensure_unique %x, %f, %t             the bytes between are as they may be
//            for %a, %b { (%i) … store %u[%i*%1] = %v }
//
// Every turn stores a whole element, and none reads the block: what a turn reads of the element that it
// stores is read where it was copied from, if that block stays. Requires: carries dropped that are passed on
// as they are. Keeps: values, every effect, in order.

#include "loops/ir/ir.h"

namespace melix::loops {

void skipCopies(Function& function);

} // namespace melix::loops
