#pragma once
// Uses of macros that end an entry at the prompt although their declaration is still to come.

#include "repl/definitions.h"

namespace melix::repl {

/// Whether an entry, a tree with the names of `written`, ends with a use of a macro of earlier entries. The
/// macro takes a declaration after it, and no macro of the name takes the use as it stands.
bool awaitsItem(names::Modules& modules, const Definitions& known, const syntax::Ast& entry,
                const Interner& written);

} // namespace melix::repl
