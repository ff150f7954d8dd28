#pragma once
// Forwards stores to loads: a read of a value whose elements are known reads the operands that the value was
// made of.
//
//   before:  %z = zero : f32[N]   %a = add_at %z[%k] += %v   %r = get %a[%j]
//            %b = nest (%i: N) -> collect[i] { yield get %x[%i] }   %s = get %b[%j]
//   after:   %r = select (%j == %k), 0.0 + %v, 0.0   %s = get %x[%j]
//
// - A nest that collects the elements that it reads of one value at its axes, or one value: that value is
//   read. If it is all of a value, in its order, the result of the nest is that value.
// - `zero`, and a value that a `set` put at the same place. A read of an updated array, or of a row, that is
//   reshaped where it is read reads the place before.
// - A list made of an array: the array is read, and its extent is the length.
// - `set` and `add_at` at whole axes, indices and slices, if every reader of the updated value can read
//   around the update and an array is saved by that. The reads select by index. For a slice they branch (`if
//   0 <= %j - %k < 5 { 0.0 + %v[%j - %k] } else { 0.0 }`). At most four updates deep, and nowhere more often
//   than there are elements. An update that replaces the whole value may come after the reads; then it is
//   removed.
// Never across a further update of the array that is read (core/analysis/sharing.h). Requires: verified Core.
// Keeps: every effect; bits; values that nobody uses any more are left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool forwardStores(core::Module& module);

} // namespace melix::transforms
