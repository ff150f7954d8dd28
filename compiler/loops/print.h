#pragma once
#include "loops/ir.h"

#include <functional>

namespace melix::loops {

/// Where in the program a statement comes from, as text; empty if it comes from nowhere.
using PlaceText = std::function<std::string(LocId)>;

/// Text for people and tests: one statement a line, regions indented, counts and modes shown. Values have the
/// names of the program's variables where they are known. `// PLACE` stands before what comes from there.
std::string print(const Module& module, const PlaceText& place = {});
std::string print(const Module& module, const Function& function, const PlaceText& place = {});
std::string_view stmtText(StmtKind kind);

} // namespace melix::loops
