#pragma once
// A match of what branches chose is a branch: cases that are made and taken apart at once are not made.
//
//   before:  %o = if %c { %s = variant Some %a  yield %s } { %n = variant None  yield %n }
//            %r = match %o { yield %z } { (%v) yield %v }
//   after:   %o, %p = if %c { … yield %s, %a } { %u = undef … yield %n, %u }
//            %r = if %c { yield %p } { yield %z }
//
// The same of a match of a match; a case that all branches make is made behind them. Only where nothing but
// matches uses the choice. An arm that is needed twice is copied if it is short. The variants are left to
// simplify. Requires: verified Core. Keeps: every effect, in order.

#include "core/ir/ir.h"

namespace melix::transforms {

/// Whether anything changed.
bool caseOfCase(core::Module& module);

} // namespace melix::transforms
