#pragma once
// If-converts cheap branches between numbers to `select`s before differentiation. The reverse pass can
// rematerialise a `select` where nothing but the operands of its condition is known; the result of a branch
// is stored.
//
//   before:  %m = if %c { %n = neg %x  yield %n } { yield %x }
//   after:   %n = neg %x   %m = select %c, %n, %x
//
// The arms consist of sums, differences, negatives and comparisons. Their derivatives multiply no value by
// the cotangent of the arm that is not taken, which is 0. Requires: verified Core. Keeps: bits.

#include "core/ir/ir.h"

namespace melix::transforms {

void formSelects(core::Module& module, core::FunctionId f);

/// Appends the ops of the arms to the list, and after them, in place of the branch, a `select` for each
/// result.
void ifConvert(core::Module& module, core::FunctionId f, core::OpId branch, std::vector<core::OpId>& list);

} // namespace melix::transforms
