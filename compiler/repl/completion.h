#pragma once
// The names that may stand at the cursor of an entry that is being typed.

#include "check/signatures/declared.h"
#include "repl/definitions.h"
#include "repl/editor/editor.h"
#include "session/session.h"

namespace melix::repl {

/// The names that an entry at the prompt sees.
struct Visible {
  session::Session& session;
  const Definitions& definitions;
  const std::vector<check::PromptVariable>& variables;
};

/// Names that begin as the one before the cursor does, each with its signature or type: keywords, variables,
/// declarations, the prelude. After `module.` these are the public items of the module, after `value.` the
/// fields of the variable. In a text after a bracket they are files.
Completion completionOf(const Visible& visible, const std::string& text, size_t cursor);

} // namespace melix::repl
