#pragma once
// Part of split_masked: where the terms of a contraction are under a mask that tells its rows and the turns
// of sums around the chain apart, as windows that reach over the edges of an image do, these sums go around
// the rows, and each turn takes the rows at which the mask holds. What they come to meanwhile is in the
// memory of the result.
//
//   before:  for points rows 6 0, %m { (%x)
//              for points vector 16 0, %n { (%j)
//                %s = for 0, 5, %z { (%b, %t)
//                  %u = for 0, %k, %t { (%c, %v)  %q = if (and (cmp ge %x - %b, 0), (cmp lt %x - %b, %y)) {
//                    … fma …, %v } { %v }   yield %q }   yield %u }
//                store %r[%x*%n + %j] = %s } }
//   after:   for points 0, %m { (%x)  for points vector 16 0, %n { (%j)  store %r[%x*%n + %j] = %z } }
//            for 0, 5 { (%b)
//              for points rows 6 (max 0, %b), (min %m, %y + %b) { (%x)
//                for points vector 16 0, %n { (%j)
//                  %t = load %r[%x*%n + %j]
//                  %u = for 0, %k, %t { (%c, %v) … yield fma …, %v }   store %r[%x*%n + %j] = %u } } }
//
// What else is made of the sum is made by a sweep behind it. A mask that tells no rows apart is asked in
// front of them. Each sum takes its terms in its order; those left out leave it as it is. Only where chains
// are long enough to be loaded and stored once each, and what is stored is not read in the loop.

#include "loops/analysis/contraction.h"

namespace melix::loops {

/// What stands in place of the rows of a contraction: where numbers are as small, and terms as few, as it
/// takes; else the rows stay.
struct SumsAroundRows {
  RegionId front; ///< what tells that
  ValueId when;   ///< none if it is known while compiling
  RegionId made;
};
std::optional<SumsAroundRows> sumsAroundRows(const Module& module, Function& fn, const Contraction& found);

} // namespace melix::loops
