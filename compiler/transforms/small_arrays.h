#pragma once
// Arrays of few elements that are only read by element are not made.
//
//   before:  %k = array %x, %y : f64[2]   %t = nest (%i: 2) -> collect[i] { %a = get %s[%i]  %b = get %k[%i]
//            %c = add %a, %b  yield %c }  %u = get %t[%1]
//   after:   %a = get %s[%0]  %c = add %a, %x   %a1 = get %s[%1]  %c1 = add %a1, %y    and %c1 in the place
//   of %u
//
// A nest of at most `mostElements` points is written out if an array goes by that: one that it collects or
// one that it reads, of which single elements are read, at constant places or by axes of nests that are
// written out. Bodies of ops without regions only. What the reads then give is found by
// transforms/forward_elements.h. Requires: verified Core without derivatives, sums without an order. Keeps:
// every effect, in order.

#include "core/ir.h"

namespace melix::transforms {

constexpr int64_t mostElements = 16; ///< of an array that is values

/// Whether anything changed.
bool writeOutSmallArrays(core::Module& module);

} // namespace melix::transforms
