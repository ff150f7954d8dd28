#pragma once
// Functions, structs and enums as they are declared, each read once.

#include "check/signatures/declared.h"

#include <memory>

namespace melix::check {

class DeclarationTable {
public:
  explicit DeclarationTable(Checker& checker) : c_(checker) {}

  const FunctionDecl& function(DeclId decl);
  const RecordDecl& record(DeclId decl);
  /// A struct or an enum at these arguments, in the order of its declaration.
  TypeId recordType(DeclId decl, std::vector<TypeId> typeArgs, std::vector<DimId> dims = {});
  /// The same record at other type arguments.
  TypeId reinstantiate(TypeId record, std::vector<TypeId> typeArgs);
  /// At type arguments with a symbol for each of `argSizes` sizes (TypeStore::generalised).
  types::RecordId recordAt(DeclId decl, std::vector<TypeId> typeArgs, size_t argSizes);
  /// Says whether a struct or enum is one that the prompt has replaced: then messages about its types say so.
  void setReplaced(DeclId record, bool isReplaced);
  /// The declaration of a function inside of a function.
  DeclId nested(ModuleId module, const syntax::Ast& tree, SynId node);
  void checkOverloadSet(const std::vector<DeclId>& set);
  /// Whether it was reported that nothing distinguishes a function from another one of its name.
  bool isAlike(DeclId decl) const { return alike_.contains(decl); }

  /// Aliases and constants that are being read.
  struct Aliases {
    std::set<DeclId> open;
    std::map<DeclId, TypeId> types; ///< found while the outermost is read
  } aliases;
  /// Default values being checked: in which instance, of which parameter.
  std::set<std::tuple<InstanceId, DeclId, size_t>> openDefaults;

private:
  GenericKind kindOfGeneric(const syntax::Ast& ast, NameId name, const std::vector<syntax::NodeId>& typeNodes,
                            ModuleId module);
  bool usedAsType(const syntax::Ast& ast, syntax::NodeId type, NameId name, ModuleId module);
  std::vector<GenericParam> readGenerics(const syntax::Ast& ast, const std::vector<syntax::Generic>& generics,
                                         const std::vector<syntax::NodeId>& typeNodes, ModuleId module);

  Checker& c_;
  std::set<DeclId> alike_;
  std::map<DeclId, std::unique_ptr<FunctionDecl>> functions_;
  std::map<DeclId, std::unique_ptr<RecordDecl>> recordDecls_;
  std::vector<DeclId> openRecords_; ///< whose fields are being resolved
  std::map<std::pair<DeclId, std::vector<TypeId>>, types::RecordId> records_;
  std::map<std::pair<const syntax::Ast*, SynId>, DeclId> nested_;
};

} // namespace melix::check
