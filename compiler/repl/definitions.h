#pragma once
// What entries at the prompt have declared, and what must be declared anew when a name gets another meaning.

#include "names/modules.h"

#include <map>
#include <set>
#include <string>

namespace melix::repl {

/// A name that an entry declared; functions of one name are overloads.
struct Kept {
  std::string source;
  std::vector<names::DeclId> decls;
  std::set<NameId> mentions; ///< every name in its declarations
  bool isRecord = false;     ///< a struct or an enum: declared anew it is another type
  names::ModuleId entry; ///< one in which macros wrote declarations: all of it is declared anew, or nothing
};

/// What later entries see, besides variables.
struct Definitions {
  std::map<NameId, names::ModuleId> names;    ///< declared or imported by name; the module that has it
  std::map<NameId, names::ModuleId> prefixes; ///< of `use a.b`
  std::map<NameId, Kept> kept;                ///< what is declared, not imported

  bool has(NameId name) const { return names.contains(name) || prefixes.contains(name); }
  /// Whether something kept says the name, whatever it means there.
  bool mention(NameId name) const;
  void remove(NameId name);
  /// Adds what a module declares and imports; of a name that was there the new meaning.
  void add(names::Modules& modules, names::ModuleId module);
  /// What is to be declared anew when `replaced` get other meanings: everything that may use one of them,
  /// and of the types only these, since values of a type that is declared anew keep the old one.
  std::set<NameId> usersOf(std::set<NameId> replaced) const;
  /// The text of these declarations.
  std::string sourceOf(const std::set<NameId>& names) const;
};

/// Whether a macro wrote a declaration: its text is that of a quote.
bool isMade(const names::Modules& modules, names::DeclId decl);
/// A declaration as it is written.
std::string textOf(names::Modules& modules, names::DeclId decl);

/// The names that a module gives a meaning: declared, imported, prefixes.
std::set<NameId> namesGivenBy(const names::Module& module);

} // namespace melix::repl
