#pragma once
// Scalarises accumulators: a record, or an array of records, is accumulated part by part. It has to begin as
// zero and be only added to, and only parts of it are read.
//
//   before:  %z = zero : {(f32[D], f32[D])}[N]
//            %r = nest (%n: N) -> accs (%a = %z) { … %b = add_at %a[%n].1 += %row  yield %b }
//            … get %r[%k].1[%j]
//   after:   %z1 = zero : f32[N, D]
//            %r1 = nest (%n: N) -> accs (%a1 = %z1) { … %b1 = add_at %a1[%n] += %row  yield %b1 }
//            … get %r1[%k, %j]
//
// Each part is then visible as the sum that it is. Records are followed into nests, loops and branches, and
// out of them. A record that is used as a whole anywhere stays. Parts that nobody reads are not accumulated.
// A record has at most `types::mostLeaves` leaves, and the sizes of a part are the sizes
// of its type. Requires: verified Core without derivatives. Keeps: the bits of all values; every effect, in
// order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool scalariseAccumulators(core::Module& module);

} // namespace melix::transforms
