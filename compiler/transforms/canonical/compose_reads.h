#pragma once
// Composes reads: a read of an array that was read itself becomes one read.
//
//   before:  %a = get %x[%n]    %b = get %a[%j]
//   after:   %a = get %x[%n]    %b = get %x[%n, %j]
//
// A read of an element of a cast of sizes reads the operand of the cast. A slice `lo +: d by c` read at j is
// a read at lo + c·j. A container inside another container is read on its own, where the outer one was read:
// `get (get %layer.weights)[%i, %j]` stays. Not if the value is updated between the two reads, as the update
// would have to copy it (core/analysis/sharing.h). Requires: verified Core. Keeps: every read in range; rows
// that nobody uses any more are left to simplify.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool composeReadsIn(core::Module& module, core::FunctionId f);
bool composeReads(core::Module& module);

} // namespace melix::transforms
