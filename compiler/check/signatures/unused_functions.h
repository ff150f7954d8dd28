#pragma once
// Warns of private functions that nothing in their file reaches.

#include "names/modules.h"

namespace melix::check {

/// Whether a byte may stand in a name.
bool isWordByte(char c);

/// Warns of the functions of a root module that nothing names, directly or through functions that are
/// reached. A name counts in the module's statements, its tests, its other declarations, and the declarations
/// it gives to other files. A function is named by its name alone, in a documentation example too: no
/// function that is used is ever reported.
///
/// Not warned of:
///   1. a file that gives and runs nothing;
///   2. `main` and operators;
///   3. functions that the language calls by name (protocols.h);
///   4. names that begin with `_`.
void warnUnusedFunctions(const names::Modules& modules, names::ModuleId root);

} // namespace melix::check
