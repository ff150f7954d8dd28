#pragma once
// What may stand at the cursor of an entry that is being typed.

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
/// declarations, the prelude; behind `module.` what the module gives, behind `value.` the fields of the
/// variable; in a text behind a bracket, files.
Completion completionOf(const Visible& visible, const std::string& text, size_t cursor);

} // namespace melix::repl
