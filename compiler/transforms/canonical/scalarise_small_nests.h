#pragma once
// Arrays of few elements that are only read by element are not made.
//
//   before:  %k = array %x, %y : f64[2]   %t = nest (%i: 2) -> collect[i] { %a = get %s[%i]  %b = get %k[%i]
//            %c = add %a, %b  yield %c }  %u = get %t[%1]
//   after:   %a = get %s[%0]  %c = add %a, %x   %a1 = get %s[%1]  %c1 = add %a1, %y    and %c1 in the place
//   of %u
//
// A nest of at most `mostElements` elements is written out if an array goes by that: one that it gives or
// one that it reads, of which single elements are read, at constant places or by axes of nests that are
// written out. Bodies of ops without regions only, but for branches that the axes decide. A loop carries the
// elements of such an array instead of it; where what a turn carries is stored, or collected, an array is
// made of them. What the reads then give is found by transforms/canonical/scalarise_elements.h; what is left
// over goes with simplify. Requires: verified Core without derivatives, sums without an order. Keeps: every
// effect, in order.

#include "core/ir/ir.h"

namespace melix::transforms {

constexpr int64_t mostElements = 16; ///< of an array that is values
constexpr int64_t mostTerms = 64;    ///< of all sums of a nest

/// Whether anything changed.
bool writeOutSmallArrays(core::Module& module);

} // namespace melix::transforms
