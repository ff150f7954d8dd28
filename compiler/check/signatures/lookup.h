#pragma once
// The declarations that names mean, seen from a module.

#include "check/signatures/checker.h"
#include "support/function_ref.h"

namespace melix::check {

bool takesNoParameters(Checker& c, DeclId decl);
/// The type declaration a name or `module.Name` means; none without a report.
DeclId typeDecl(Checker& c, ModuleId module, const syntax::Ast& ast, syntax::NodeId node);
DeclId typeDecl(Checker& c, ModuleId module, NameId name);
DeclId declNamed(Checker& c, ModuleId module, NameId name, FunctionRef<bool(names::DeclKind)> fits);
/// Functions a name may mean, one layer after another (rule 8): this module, imports, prelude.
std::vector<std::vector<DeclId>> functionLayers(Checker& c, ModuleId module, NameId name);
std::vector<DeclId> functionsIn(Checker& c, ModuleId module, NameId name, bool publicOnly);
/// The functions at the home of a type: the exports of an imported module, all functions of a program's own
/// file, all that the newest entry at the prompt sees.
std::vector<DeclId> functionsAtHome(Checker& c, ModuleId home, NameId name);
DeclId constDecl(Checker& c, ModuleId module, NameId name);
/// (enum declaration, case) for a bare case name seen from a module.
std::vector<std::pair<DeclId, uint32_t>> casesNamed(Checker& c, ModuleId module, NameId name);
/// The case `module.Case` of a public enum.
std::optional<std::pair<DeclId, uint32_t>> publicCase(Checker& c, ModuleId module, NameId name);
std::string suggest(std::string_view wrong, const std::vector<std::string_view>& known);
std::string suggestPublic(Checker& c, ModuleId module, NameId name);
std::string suggestName(Checker& c, ModuleId module, NameId name, const std::vector<NameId>& locals);
/// The constant that `c` or `module.c` means.
DeclId constDecl(Checker& c, ModuleId module, const syntax::Ast& ast, syntax::NodeId node);
std::string whyNoSize(Checker& c, ModuleId module, NameId name);
std::string suggestSize(Checker& c, ModuleId module, NameId name, const std::vector<NameId>& inScope);
/// Each size that is computed from sizes which only the value's maker knows, `n - 1` of an argument n,
/// becomes one of its own: who gets the value reads it off.
TypeId withExistentialSizes(Checker& c, TypeId type, FunctionRef<bool(DimSym)> own);
/// Says that `got` does not meet the bound of a parameter of the function or record `of`.
void refuseBound(Checker& c, std::string_view of, const GenericParam& g, TypeId got, std::string shown,
                 Span span);
/// Whether an instance is only checked, never run: its types are type parameters.
inline bool isOfParams(Checker& c, const InstanceKey& key) {
  return std::any_of(key.typeArgs.begin(), key.typeArgs.end(),
                     [&](TypeId t) { return c.types.holds(t, types::TypeKind::Param); });
}
/// Symbols of `from` as they appear in `to`, a type of the same structure.
void matchSymbols(Checker& c, TypeId from, TypeId to, types::DimSubst& out);

} // namespace melix::check
