#pragma once
// Scalarises collected records: a nest that collects records of which only parts are read collects the parts.
//
//   before:  %r = nest (%i: N) -> collect[i] { %s = make %a, %row : S  yield %s }   … get %r[%k].1[%j]
//   after:   %r, %p = nest (%i: N) -> collect[i], collect[i] { … yield %s, %row }   … get %p[%k, %j]
//
// A read of a part of a record that was read from the array becomes a read of the part. Runs before
// derivatives too: the reverse pass stores the parts, each as it is needed. The records, and parts that
// nobody reads, are left to simplify. Requires: verified Core. Keeps: all values.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool scalariseCollectedRecords(core::Module& module);

} // namespace melix::transforms
