#pragma once
// Reads of values whose elements are known go to what they were made of.
//
//   before:  %z = zero : f32[N]   %a = add_at %z[%k] += %v   %r = get %a[%j]
//            %b = nest (%i: N) -> collect[i] { yield get %x[%i] }   %s = get %b[%j]
//   after:   %r = select (%j == %k), 0.0 + %v, 0.0   %s = get %x[%j]
//
// - A nest that collects what one value reads at its axes, or one value: that value is read. Where it is all
//   of a value, in its order, the nest's result is that value.
// - `zero`, and what a `set` put at the very place; of what was updated, or is a row, and is reshaped where
//   it is read, the place before.
// - A list made of an array: the array is read, and its extent is the length.
// - `set` and `add_at` at whole axes, indices and slices, if all that reads the updated value can read around
//   it and an array is saved by that: the reads select by index, or branch where a slice has it (`if 0 <= %j
//   - %k < 5 { 0.0 + %v[%j - %k] } else { 0.0 }`). At most four updates deep, and nowhere more often than
//   there are elements. What replaces all that was updated may come behind the reads, and the update goes.
// Never behind a further update of what is read (core/analysis/sharing.h). Requires: verified Core. Keeps:
// every effect; bits; values that nobody uses any more are left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool forwardReads(core::Module& module);

} // namespace melix::transforms
