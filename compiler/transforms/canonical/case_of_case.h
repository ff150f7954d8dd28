#pragma once
// Case of case: a match of the result of a branch takes the operand of the branch, so that no variant is made
// only to be matched, and no number is compared only to find a known result.
//
//   before:  %o = if %c { %s = variant Some %a  yield %s } { %n = variant None  yield %n }
//            %r = match %o { yield %z } { (%v) yield %v }
//   after:   %o, %p = if %c { … yield %s, %a } { %u = undef … yield %n, %u }
//            %r = match %c { yield %z } { yield %p }
//
// The same for numbers, where each region of the branch yields a constant. A branch is an `if` or a match. A
// variant or number that all its regions make is made after it. Only matches may use the result of a branch
// that makes variants. An arm that takes a payload and is needed twice is copied if it is short. Simplify
// removes the rest of the variants, and matches of bools. Requires: verified Core. Keeps: every effect, in
// order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool caseOfCase(core::Module& module);

} // namespace melix::transforms
