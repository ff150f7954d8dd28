#pragma once
// Checks a text as an entry at the prompt would be, beside the entries: nothing runs, nothing is
// reported, and later entries do not see it.

#include "check/signatures/declared.h"
#include "diagnostics/messages.h"
#include "repl/definitions.h"
#include "session/session.h"

namespace melix::repl {

/// The names that an entry at the prompt sees.
struct Visible {
  session::Session& session;
  const Definitions& definitions;
  const std::vector<check::PromptVariable>& variables;
};

class Aside {
public:
  /// The text is checked if it can be parsed. Macros in it would be expanded, and modules read.
  Aside(const Visible& visible, const std::string& text);
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  bool isParsed() const { return isParsed_; }
  names::ModuleId module() const { return module_; }
  const check::PromptEntry& entry() const { return entry_; }
  /// The type of the expression that these bytes of the text are, also where the text has errors; none if
  /// they have none.
  types::TypeId typeOf(size_t begin, size_t end) const;

private:
  const Visible& visible_;
  Unheard unheard_;
  const names::ModuleId newest_;
  const uint32_t firstInstance_;
  names::ModuleId module_;
  check::PromptEntry entry_;
  bool isParsed_ = false;
};

} // namespace melix::repl
