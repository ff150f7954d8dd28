#pragma once
// The prompt without a terminal: entries in, text out. Definitions and values of variables are kept between
// entries.
//
// An entry is a module of its own. Its declarations are imported by later entries; its statements are a
// function of the variables there are, which gives their new values, so nothing runs twice. Entries run in
// the Core interpreter. An entry that fails (error, panic, Ctrl-C) changes no variable and defines nothing.
// Redefining a function checks the functions kept from earlier entries again, so callers see the new one; if
// they no longer check, the old one stays. Values of a type that is redefined keep the old type.

#include "interp/interp.h"
#include "session/session.h"

#include <map>

namespace melix::repl {

/// What the prompt needs from outside.
struct Host {
  interp::Hooks hooks;
  std::function<std::string(types::TypeId, const interp::Value&)> show; ///< a value as inside another one
  std::function<void(std::string_view)> write, writeError;
  std::function<void()> writeDiagnostics;
  std::function<void(const interp::Panic&)> reportPanic; ///< also says whether it was Ctrl-C
};

class Prompt {
public:
  Prompt(session::Session& session, Host host) : session_(session), host_(std::move(host)) {}

  /// Whether more lines are wanted before the entry can be taken.
  static bool isIncomplete(const std::string& text);
  /// Checks and runs one entry. Whether that went well; what was wrong has been told.
  bool enter(const std::string& text);

private:
  /// What later entries see, besides variables.
  struct Definitions {
    std::map<NameId, names::ModuleId> names;    ///< declared or imported by name; the module that has it
    std::map<NameId, names::ModuleId> prefixes; ///< of `use a.b`
    std::map<NameId, std::string> functions;    ///< source of the functions that are kept
  };
  void connect(names::ModuleId module, const Definitions& known);
  Definitions collect(names::ModuleId module, Definitions known);
  names::ModuleId renewFunctions(names::ModuleId module, Definitions& now);
  bool checkDefinitions(names::ModuleId module);
  bool run(const check::PromptEntry& entry);
  bool keep(const check::PromptEntry& entry, interp::RunResult result);

  session::Session& session_;
  Host host_;
  Definitions definitions_;
  std::vector<check::PromptVariable> variables_;
  std::vector<interp::Value> values_; ///< of variables_
};

} // namespace melix::repl
