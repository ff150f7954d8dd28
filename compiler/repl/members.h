#pragma once
#include "repl/editor/editor.h"
#include "repl/typed_receiver.h"

namespace melix::repl {

/// The names that may stand after `receiver.` and begin so: the public items of a module, the cases of an
/// enum; of a value its fields, the functions that take its type first, then functions of any type.
std::vector<Candidate> membersOf(const Visible& visible, const std::string& text, const Cursor& cursor,
                                 const std::string& begin);

/// Whether a name is offered after its begin was typed; a name that begins with `_` only after the `_`.
bool isOffered(std::string_view name, std::string_view begin);

} // namespace melix::repl
