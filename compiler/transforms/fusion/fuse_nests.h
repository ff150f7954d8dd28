#pragma once
// Two nests of one block over the same leading axes are one nest over these; what they do over the others
// stands in it, one behind the other.
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
// The earlier one goes to where the later one stands, so nothing in between may use it, update what it reads,
// or be input, output or an assertion; only one of both may panic, and then nothing in between. Not where all
// points of a shared axis use one side of a product in the later one, nor where they are one side of a
// product in the earlier one: those run over tiles. A product is not summed where another array of as many
// elements is read with it. Requires: verified Core. Keeps: bits, effects in their order.

#include "transforms/fusion/fusion.h"

namespace melix::transforms {

/// The nest, an op of the block at hand, becomes part of the first op that uses it.
FusionAnswer fuseOuter(Fusion& fusion, core::OpId nest);

/// Whether it became part of `later`, a nest of the block.
bool fuseSiblings(Fusion& fusion, core::OpId nest, core::OpId later);

} // namespace melix::transforms
