#pragma once
// Calls of code for a device that are made on both sides, whose results are compared (MELIX_DEVICE=check).

#include "loops/emit/leaf_calls.h"

namespace melix::loops {

/// Whether a call goes to a device and is made on both sides. A callee with input or output is not, which is
/// noted.
bool isCheckedCall(Lower& l, const core::Op& call, Device device);

/// Emits the calls, with these operands, and defines the results of the op.
void emitCheckedCall(Lower& l, const core::Op& call, const std::vector<ValueId>& operands, Device device);

} // namespace melix::loops
