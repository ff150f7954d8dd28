#pragma once
// Estimates how much of a function would run, from its Core.

#include "core/ir/ir.h"

namespace melix::repl {

/// Whether so little runs, wherever the control goes, that to interpret it takes less time than to compile
/// it: the counts of all loops are known, and few.
bool isLight(const core::Module& module, core::FunctionId f);

/// The same of the function's own ops. Calls outside of loops count as nothing; `heavy` gets those calls that
/// are not light.
bool isLightButForCalls(const core::Module& module, core::FunctionId f, std::vector<core::OpId>& heavy);

} // namespace melix::repl
