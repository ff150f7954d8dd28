#pragma once
// Expands sums of whole arrays into nests, so that the producers of their terms can be fused.
//
//   before:  %s = add_at %x += %v : f32[N]      (or add %x, %v; sub; neg)
//   after:   %s = nest (%i: N) -> collect[i] { %a = get %x[%i]  %b = get %v[%i]  %c = add %a, %b  yield %c }
//
// Arrays of numbers only. An update in place becomes a nest where one of the two was collected by a nest for
// it alone: there is one sweep less, and no more memory. Requires: verified Core. Keeps: bits.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool expandArraySums(core::Module& module);

} // namespace melix::transforms
