#pragma once
// Private functions that nothing in their file reaches.

#include "names/modules.h"

namespace melix::check {

/// Whether a byte may stand in a name.
bool isWordByte(char c);

/// Warns of the functions of a root module that neither its statements, its tests, its other declarations nor
/// what it gives to other files name, directly or through functions that are reached. A function is named by
/// its name alone, in a documentation example too: no function that is used is ever told of. Nothing is said
/// of a file that gives and runs nothing, of `main`, operators, what the language calls by name
/// (protocols.h), and names that begin with `_`.
void warnUnusedFunctions(const names::Modules& modules, names::ModuleId root);

} // namespace melix::check
