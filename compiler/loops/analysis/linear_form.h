#pragma once
// Reads numbers of Loops as linear forms (support/linear_form.h).

#include "loops/ir/ir.h"
#include "support/function_ref.h"
#include "support/linear_form.h"

#include <optional>

namespace melix::loops {

using LinearForm = melix::LinearForm<ValueId>;

/// The form of an i64 over the values that `isTerm` accepts. None if it is computed from other values in any
/// other way than by sums, differences and products by constants.
std::optional<LinearForm> linearForm(const Function& fn, ValueId v, FunctionRef<bool(ValueId)> isTerm);

} // namespace melix::loops
