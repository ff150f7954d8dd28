#pragma once
#include "loops/ir.h"

namespace melix::loops {

/// Text for people and tests: one statement a line, regions indented, counts and modes shown.
std::string print(const Module& module);
std::string print(const Module& module, const Function& function);
std::string_view stmtText(StmtKind kind);

} // namespace melix::loops
