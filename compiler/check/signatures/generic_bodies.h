#pragma once
// Generic functions where they are declared: bodies are held to the bounds of their type parameters.

#include "check/signatures/declared.h"

namespace melix::check {

class GenericBodies {
public:
  explicit GenericBodies(Checker& checker) : c_(checker) {}

  bool isHeldToBounds(DeclId decl);
  bool satisfiesBounds(DeclId decl, KnownId known, const std::vector<TypeId>& captured);
  bool mayInstantiate(const InstanceKey& key);
  const std::vector<TypeId>& paramTypes(DeclId decl, const std::vector<GenericParam>& generics);

private:
  bool isAtDeclaration(const InstanceKey& key);
  std::vector<Diagnostic> checkAtDeclaration(const InstanceKey& key, const FunctionDecl& fn);

  Checker& c_;
  std::map<DeclId, bool> heldToBounds_;
  std::map<DeclId, std::vector<TypeId>> paramTypes_;
  std::map<InstanceKey, std::vector<Diagnostic>> refusals_; ///< empty: the body fits
};

} // namespace melix::check
