#pragma once
// Interchanges sums with the rows of a contraction whose terms are predicated. Part of split_predicated. The
// predicate varies with the rows and with the iterations of sums around the chain, as for windows that reach
// over the edges of an image. Each iteration of these sums then takes only the rows at which the predicate
// holds. The partial sums lie in the memory of the result meanwhile.
//
//   before:  for independent unroll_jam 6 0, %m { (%x)
//              for independent vector 16 0, %n { (%j)
//                %s = for 0, 5, %z { (%b, %t)
//                  %u = for 0, %k, %t { (%c, %v)  %q = if (and (cmp ge %x - %b, 0), (cmp lt %x - %b, %y)) {
//                    … fma …, %v } { %v }   yield %q }   yield %u }
//                store %r[%x*%n + %j] = %s } }
//   after:   for independent 0, %m { (%x)
//              for independent vector 16 0, %n { (%j)  store %r[%x*%n + %j] = %z } }
//            for 0, 5 { (%b)
//              for independent unroll_jam 6 (max 0, %b), (min %m, %y + %b) { (%x)
//                for independent vector 16 0, %n { (%j)
//                  %t = load %r[%x*%n + %j]
//                  %u = for 0, %k, %t { (%c, %v) … yield fma …, %v }   store %r[%x*%n + %j] = %u } } }
//
// A later sweep computes the other values that depend on the sum. A predicate that does not vary with the
// rows is tested before them. Each sum takes its terms in its order; the omitted terms leave it unchanged.
// Only where chains are long enough to pay for one load and one store each, and the loop does not read the
// stored memory.

#include "loops/analysis/contraction.h"

namespace melix::loops {

/// The replacement for the rows of a contraction. It runs only where numbers are small enough and terms few
/// enough; otherwise the rows stay.
struct InterchangedReduction {
  RegionId front; ///< computes `when`
  ValueId when;   ///< none if it is known while compiling
  RegionId made;
};
std::optional<InterchangedReduction> interchangeMaskedReduction(const Module& module, Function& fn,
                                                                const Contraction& found);

} // namespace melix::loops
