#pragma once
// Forwards stores across iterations: a value that an iteration of a counted loop reads where the iteration
// before it wrote is carried, not read.
//
//   before:  for %n, %x { (%t, %y)
//              %i = add %t, %1   %v = get %y[%t]   %w = …   %z = set %y[%i] = %w   yield %z }
//   after:   %f = if %n > 0 and %0 is in range { get %x[%0] } { %0 }
//            for %n, %x, %f { (%t, %y, %v)
//              %i = add %t, %1   %w = …   %z = set %y[%i] = %w   yield %z, %w }
//
// Applies to arrays that every iteration updates once, at a place affine in its index, and to their scalars.
// No iteration then waits for memory. Requires: verified Core without derivatives. Keeps: bits, every effect
// in its order.

#include "core/ir/ir.h"

namespace melix::transforms {

void carryStoredValues(core::Module& module);

} // namespace melix::transforms
