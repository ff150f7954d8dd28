#pragma once
// An order in which functions are checked so that few wait for others: callees first.

#include "check/signatures/checker.h"

namespace melix::check {

/// The declarations with each function behind those of the module that it names; functions that name each
/// other stay as they are. Others keep their order.
std::vector<DeclId> calleesFirst(const names::Modules& modules, ModuleId module,
                                 const std::vector<DeclId>& decls);

} // namespace melix::check
