#pragma once
// Removes the index checks of `@unchecked` functions, whose author answers for their indices, and the ops
// that only these checks use.
//
//   before:  %n = length %l   check list_index %i, %n   %x = get %l, %i     after:  %x = get %l, %i
//
// Requires: verified Core. Keeps: every other check. The interpreter runs Core without this.

#include "core/ir/ir.h"
#include "support/function_ref.h"

namespace melix::transforms {

/// Drops those written at places for which `isUnchecked` holds, in whatever function they are by now.
void dropIndexChecks(core::Module& module, FunctionRef<bool(Span)> isUnchecked);

} // namespace melix::transforms
