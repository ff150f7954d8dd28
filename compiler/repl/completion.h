#pragma once
// The names that may stand at the cursor of an entry that is being typed.

#include "repl/aside.h"
#include "repl/editor/editor.h"

namespace melix::repl {

/// The candidates at the cursor, each with its signature or type. Nothing runs; an entry of any length,
/// broken or not, is answered at once.
///   1. A name: keywords, names of the entry, variables, declarations, the prelude. In a call before these
///      the named arguments that are not given yet, `name:`.
///   2. After a point: the items of a module or an enum; the fields of a value and the functions that take
///      it first.
///   3. In a text that is the argument of a parameter `path`, `file` or `folder`, and after `:load` and
///      `:save`: files of one folder.
///   4. After `:` at the begin: commands, then their arguments.
/// Nothing in comments, other texts and numbers.
Completion completionOf(const Visible& visible, const std::string& text, size_t cursor);

} // namespace melix::repl
