#pragma once
// Fuses two nests of one block over the same leading axes into one nest over these axes. Their work over
// other axes becomes inner nests, one after the other.
//
// fuseOuter, the later one reads the earlier one point by point:
//   before:  %s = nest (%i: N, %k: K) -> keep[i] sum { … }
//            %y = nest (%i: N, %j: K) -> collect[i, j] {
//              %a = get %x[%i, %j]  %b = get %s[%i]  yield (div %a, %b) }
//   after:   %y = nest (%i: N) -> collect[i] {
//              %s = nest (%k: K) -> keep[] sum { … }
//              %r = nest (%j: K) -> collect[j] { %a = get %x[%i, %j]  yield (div %a, %s) }
//              yield %r }
// fuseSiblings, they are independent, keep the same axes and read the same array:
//   before:  %a = nest (%i: N) -> collect[i] { … %x[%i] … }   %b = nest (%i: N) -> collect[i] { … %x[%i] … }
//   after:   %a, %b = nest (%i: N) -> collect[i], collect[i] { … }
//
// The earlier nest moves to the later one. So no op in between may use it, update an array that it reads, or
// be input, output or an assertion. Only one of both may panic, and then no op in between may. Products that
// run over tiles stay in these cases:
// 1. In the later nest, a shared axis varies one operand of a product and not the other.
// 2. In the earlier nest, the shared axes are all axes of one operand: each point would compute a product of
//    a row and a matrix.
// 3. The later nest would sum the product over an axis of an operand, and also reads another array of as many
//    elements.
// Requires: verified Core. Keeps: bits, effects in their order.

#include "transforms/fusion/fusion.h"

namespace melix::transforms {

/// The nest, an op of the block at hand, becomes part of the first op that uses it.
FusionAnswer fuseOuter(Fusion& fusion, core::OpId nest);

/// Whether it became part of `later`, a nest of the block.
bool fuseSiblings(Fusion& fusion, core::OpId nest, core::OpId later);

} // namespace melix::transforms
