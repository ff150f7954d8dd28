#pragma once
// Makes functions give whether their checks hold, where they would panic.
//
//   before:  fn f (…) -> (f32[D]) {
//              check index "" %i dims [V]
//              %r = nest (d: D) -> collect[d] { … get %e[%i, %d] … }
//              yield %r }
//   after:   fn f (…) -> (f32[D], bool) {
//              %in = holds index "" %i dims [V]
//              %s, %all = if %in { %r = nest …   yield %r, %true } else { … yield %filler, %false }
//              yield %s, %all }
//
// Where a check does not hold, the ops after it in its region do not run, nor do further iterations of the
// loop that it stands in. All points of a nest run. The results are any values then. Functions that are
// called have copies of the same kind, if they may fail.

#include "core/ir/ir.h"

#include <vector>

namespace melix::core {
class Effects;
}

namespace melix::transforms {

/// Whether an op, without the ops in its regions, has no effect but a check or a panic, and may be part of a
/// function that gives whether checks hold. Loops may go on for ever.
bool canGiveChecks(const core::Module& m, const core::Function& f, core::OpId op,
                   const core::Effects& effects);

/// Each of these functions gets a last result more, in place. Calls of some, `expecting`, take it already.
/// Requires: verified Core; all ops of these functions and of their callees `canGiveChecks`. Keeps: results
/// where all checks hold.
void checksToValues(core::Module& m, const std::vector<core::FunctionId>& functions,
                    const std::vector<core::FunctionId>& expecting = {});

} // namespace melix::transforms
