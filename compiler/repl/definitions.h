#pragma once
// The declarations of entries at the prompt, and the declarations to renew when a name gets another meaning.

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

/// The names that later entries see, besides variables.
struct Definitions {
  std::map<NameId, names::ModuleId> names;    ///< declared or imported by name; the module that has it
  std::map<NameId, names::ModuleId> prefixes; ///< of `use a.b`
  std::map<NameId, Kept> kept;                ///< the declared names, not the imported ones

  bool has(NameId name) const { return names.contains(name) || prefixes.contains(name); }
  /// Whether something kept says the name, whatever it means there.
  bool mention(NameId name) const;
  void remove(NameId name);
  /// Adds the declarations and imports of a module; of a name that was there the new meaning.
  void add(names::Modules& modules, names::ModuleId module);
  /// The names to declare anew when `replaced` get other meanings: everything that may use one of them. Of
  /// the types only the replaced ones are declared anew, since values of a type that is declared anew keep
  /// the old one.
  std::set<NameId> usersOf(std::set<NameId> replaced) const;
  /// The text of these declarations.
  std::string sourceOf(const std::set<NameId>& names) const;
};

/// Every name in a tree, whatever it means there; operators too.
void collectMentions(const syntax::Ast& ast, syntax::NodeId node, Interner& names, std::set<NameId>& out);

/// Whether a macro wrote a declaration: its text is that of a quote.
bool isMade(const names::Modules& modules, names::DeclId decl);
/// A declaration as it is written.
std::string textOf(names::Modules& modules, names::DeclId decl);

/// Makes all known names visible in a module, except for its own.
void connect(names::Modules& modules, names::ModuleId module, const Definitions& known);

/// The names that a module gives a meaning: declared, imported, prefixes; not the meanings that are known.
std::set<NameId> namesGivenBy(const names::Module& module, const Definitions& known);

} // namespace melix::repl
