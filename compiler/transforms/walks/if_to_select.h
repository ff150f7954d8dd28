#pragma once
// Branches between numbers that cost next to nothing are choices, in what derivatives are taken of: a choice
// is made again on the way back, where nothing but its condition's operands is known, and what a branch gives
// is kept.
//
//   before:  %m = if %c { %n = neg %x  yield %n } { yield %x }
//   after:   %n = neg %x   %m = select %c, %n, %x
//
// Of sums, differences, negatives and comparisons: nothing that is multiplied by the cotangent of an arm that
// is not taken, which is 0. Requires: verified Core. Keeps: bits.

#include "core/ir/ir.h"

namespace melix::transforms {

void formSelects(core::Module& module, core::FunctionId f);

/// What stands in the arms goes to the end of the list, and behind it in the place of the branch a choice for
/// each result.
void becomeSelects(core::Module& module, core::FunctionId f, core::OpId branch,
                   std::vector<core::OpId>& list);

} // namespace melix::transforms
