#pragma once
// A nest that collects records of which only parts are read collects the parts.
//
//   before:  %r = nest (%i: N) -> collect[i] { %s = make %a, %row : S  yield %s }   … get %r[%k].1[%j]
//   after:   %r, %p = nest (%i: N) -> collect[i], collect[i] { … yield %s, %row }   … get %p[%k, %j]
//
// Reads of parts of a record that was read of the array are reads of parts. Before derivatives too: the way
// back keeps the parts, each as it is needed. The records, and parts that nobody reads, are left to simplify.
// Requires: verified Core. Keeps: all values.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool splitRecords(core::Module& module);

} // namespace melix::transforms
