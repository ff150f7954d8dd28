#pragma once
// Imports that nothing in their file needs.

#include "names/modules.h"

namespace melix::check {

/// Warns of the modules and names that a `use` of a root module brings and that the file does not name: by
/// itself, as the beginning of a longer name, as a method, in a documentation example, or, of an enum, by one
/// of its cases. Nothing is said of `pub use`, which gives names to others, and of what the language calls by
/// name (protocols.h).
void warnUnusedImports(const names::Modules& modules, names::ModuleId root);

} // namespace melix::check
