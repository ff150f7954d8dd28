#pragma once
// Reads of what was read are one read.
//
//   before:  %a = get %x[%n]    %b = get %a[%j]
//   after:   %a = get %x[%n]    %b = get %x[%n, %j]
//
// An element of what a cast of sizes gives is read of what it was given. A slice `lo +: d by c` read at j is
// a read at lo + c·j. Containers that others hold are read on their own, where what holds them was read: `get
// (get %layer.weights)[%i, %j]` stays. Not where the value is updated between the two reads: that would have
// to copy it (core/analysis/sharing.h). Requires: verified Core. Keeps: every read in range; rows that nobody
// uses any more are left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool composeReadsIn(core::Module& module, core::FunctionId f);
bool composeReads(core::Module& module);

} // namespace melix::transforms
