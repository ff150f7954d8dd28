#pragma once
// Records, or arrays of them, that begin as zero, are only added to, and of which only parts are read, are
// accumulated part by part.
//
//   before:  %z = zero : {(f32[D], f32[D])}[N]
//            %r = nest (%n: N) -> accs (%a = %z) { … %b = add_at %a[%n].1 += %row  yield %b }
//            … get %r[%k].1[%j]
//   after:   %z1 = zero : f32[N, D]
//            %r1 = nest (%n: N) -> accs (%a1 = %z1) { … %b1 = add_at %a1[%n] += %row  yield %b1 }
//            … get %r1[%k, %j]
//
// So that each is seen to be the sum that it is. They are followed into nests, loops and branches, and out of
// them; those that are asked for as a whole anywhere stay. Parts that nobody reads are not accumulated. Of
// records of at most `mostParts` parts (scalarise_carried_records.h), and parts whose sizes are those of
// their types. Requires: verified Core without derivatives. Keeps: the bits of all values; every effect, in
// order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool splitAccumulators(core::Module& module);

} // namespace melix::transforms
