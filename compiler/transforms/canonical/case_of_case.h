#pragma once
// Case of case: a match of the result of a branch becomes a branch, so that no variant is made only to be
// matched.
//
//   before:  %o = if %c { %s = variant Some %a  yield %s } { %n = variant None  yield %n }
//            %r = match %o { yield %z } { (%v) yield %v }
//   after:   %o, %p = if %c { … yield %s, %a } { %u = undef … yield %n, %u }
//            %r = if %c { yield %p } { yield %z }
//
// Also for a match of a match. A variant that all branches make is made after them. Only matches may use the
// result. An arm that is needed twice is copied if it is short. The variants are left to simplify. Requires:
// verified Core. Keeps: every effect, in order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool caseOfCase(core::Module& module);

} // namespace melix::transforms
