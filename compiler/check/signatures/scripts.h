#pragma once
// The variables at the top of scripts and at the prompt, as functions see them (rule 9).

#include "check/signatures/declared.h"

namespace melix::check {

/// The variables at the top of a script, or before an entry at the prompt; and where each `let` begins.
struct ScriptNames {
  std::map<NameId, uint32_t> lets;
  std::set<NameId> vars, again; ///< `again`: bound by several `let`s, which functions do not see
};

class Scripts {
public:
  explicit Scripts(Checker& checker) : c_(checker) {}

  const ScriptNames& scriptNames(ModuleId module);
  /// Whether the check of a function's body reports the meaning of a name, or why it is not seen.
  bool isOfScript(ModuleId module, NameId name);
  /// The variables that a module's functions see at the prompt; to be said before the module is checked.
  void seePrompt(ModuleId module, const std::vector<PromptVariable>& known);
  /// The names that the statements of a module bind at its top.
  std::set<NameId> namesBoundIn(ModuleId module);
  /// The `let`s of the script that a function sees, itself or through the functions it calls (rule 9).
  std::vector<NameId> scriptLets(DeclId decl);
  /// The module has changed.
  void forget(ModuleId changed);

  std::map<NameId, WrittenQuotient> scriptQuotients; ///< `let`s of the script that are made of one

private:
  struct NamedBy {
    std::set<NameId> lets;
    std::vector<DeclId> functions;
  };
  const NamedBy& namedBy(DeclId decl);
  bool isScript(ModuleId module);

  Checker& c_;
  std::map<ModuleId, ScriptNames> scripts_;
  std::map<ModuleId, std::vector<PromptVariable>> promptNames_;
  std::map<DeclId, NamedBy> namedBy_;
  std::map<DeclId, std::vector<NameId>> seenLets_;
};

} // namespace melix::check
