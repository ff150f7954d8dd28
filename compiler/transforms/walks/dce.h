#pragma once
// Removes values whose results are never used: ops, and single results and carries of structured ops.
//
//   before:  %1 = add %a, %b : f32   %s, %t = for … carry … { … }   yield %s
//   after:                           %s = for … carry … { … }       yield %s
//
// Requires: verified Core. Keeps: every effect, in order.

#include "core/ir/ir.h"

namespace melix::core {
class Effects;
}

namespace melix::transforms {

/// Whether something was removed.
bool eliminateDeadValues(core::Module& module, core::FunctionId f, const core::Effects& effects);
void eliminateDeadValues(core::Module& module);

} // namespace melix::transforms
