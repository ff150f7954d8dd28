#pragma once
// Scalarises elements of small arrays of constant size: reads become the values that the elements were made
// of.
//
//   before:  %a = array %x, %y : f64[2]   %b = set %a[%0] = %z : f64[2]   %s = get %b[%0]   %t = get %b[%1]
//   after:   %z and %y in the place of %s and %t
//
// An array's elements are known where it is made of scalars, zero, a known one reshaped, a part of one at
// constant places, or an update of one there. Only reads of single elements change; arrays that nobody uses
// any more are left to simplify. Arrays of at most `largestKnown` elements. Requires: verified Core. Keeps:
// bits.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr unsigned largestKnown = 64; ///< elements of an array

/// Whether anything changed.
bool forwardElementsIn(core::Module& module, core::FunctionId f);
bool scalariseElements(core::Module& module);

} // namespace melix::transforms
