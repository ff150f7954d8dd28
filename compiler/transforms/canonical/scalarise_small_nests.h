#pragma once
// Unrolls nests over arrays of few elements that are only read by element, so that the arrays are not made.
//
//   before:  %k = array %x, %y : f64[2]   %t = nest (%i: 2) -> collect[i] { %a = get %s[%i]  %b = get %k[%i]
//            %c = add %a, %b  yield %c }  %u = get %t[%1]
//   after:   %a = get %s[%0]  %c = add %a, %x   %a1 = get %s[%1]  %c1 = add %a1, %y    and %c1 in the place
//   of %u
//
// A nest of at most `mostElements` elements is unrolled if that removes an array, one that it gives or one
// that it reads. Single elements of this array are read, at constant places or by axes of nests that are
// unrolled. The ops of a body have no regions, except branches that the axes decide. A loop carries the
// elements of such an array instead of it. If the carried value is stored or collected in an iteration, an
// array is made of the elements. scalarise_elements.h then finds the values of the reads; simplify removes
// the rest. Requires: verified Core without derivatives, sums without an order. Keeps: every effect, in
// order.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr int64_t mostElements = 16; ///< of an array that becomes values
constexpr int64_t mostTerms = 64;    ///< of all sums of a nest

/// Whether anything changed.
bool writeOutSmallArrays(core::Module& module);

} // namespace melix::transforms
