#pragma once
// Warns of imports that nothing in their file needs.

#include "names/modules.h"

namespace melix::check {

/// Warns of the modules and names that a `use` of a root module brings and that the file does not name. A
/// name counts as used:
///   1. by itself, or as the beginning of a longer name;
///   2. as a method;
///   3. in a documentation example;
///   4. if it is an enum, by one of its cases.
/// Not warned of: `pub use`, which gives names to others, and names that the language calls (protocols.h).
void warnUnusedImports(const names::Modules& modules, names::ModuleId root);

} // namespace melix::check
