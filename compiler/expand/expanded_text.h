#pragma once
// A module after expansion, as a program that checks and behaves the same (rule 14 of macros).

#include "names/modules.h"

#include <string>

namespace melix::expand {

/// Names that quotes bind have spellings of their own. A name declared in another module is `module.name`,
/// also where it is private there (`melix check --expanded`).
std::string expandedText(names::Modules& modules, names::ModuleId module);

} // namespace melix::expand
