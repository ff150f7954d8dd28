#pragma once
// Orders functions for checking, callees first, so that few wait for others.

#include "check/signatures/checker.h"

namespace melix::check {

/// The declarations with each function after the functions of the module that it names. Functions that name
/// each other stay as they are. Other declarations keep their order.
std::vector<DeclId> calleesFirst(const names::Modules& modules, ModuleId module,
                                 const std::vector<DeclId>& decls);

} // namespace melix::check
