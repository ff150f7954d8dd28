#pragma once
// The parts of a module that are checked without a caller.

#include "check/signatures/checker.h"

namespace melix::check {

/// The instance made where a function is declared, with its captures there; none if there is none.
InstanceId instantiateDefinition(Checker& c, DeclId decl, KnownId known, const std::vector<TypeId>& captured);
void checkBody(Checker& c, InstanceId id);
void checkDeclaration(Checker& c, DeclId decl);
void checkInside(Checker& c, ModuleId module);
void checkOverloads(Checker& c, ModuleId module);
std::optional<InstanceKey> keyOfDefinition(Checker& c, const FunctionDecl& fn);
/// The functions of one name that take arguments of the same types as an earlier one.
std::vector<DeclId> redefined(Checker& c, const std::vector<DeclId>& set);
std::vector<DeclId> declsOf(Checker& c, ModuleId module);
/// Functions that see `let`s of their script, checked at the types these have; those without a caller are
/// so too.
void checkCapturingLets(Checker& c, ModuleId module, const std::map<NameId, TypeId>& lets);
/// Whether a function's body is checked whole where it stands, called or not.
inline bool isCheckedWhereDeclared(Checker& c, DeclId decl) {
  return c.generics.isHeldToBounds(decl) ||
         keyOfDefinition(c, FunctionDecl(c.declarations.function(decl))).has_value();
}

} // namespace melix::check
