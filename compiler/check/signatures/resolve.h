#pragma once
// Converts type syntax to types (rules 20-25): names, brackets, dimensions. The meaning of unbound names,
// `?N` and `_` depends on where the type stands, so each place supplies it through hooks.

#include "check/signatures/checker.h"

namespace melix::check {

/// The meaning of names where a type is written, and the other facts that are known there.
struct TypeSurroundings {
  /// A dimension for an unbound capitalised name, `?N` (named) or `_` (no name); null: not allowed here.
  std::function<DimId(NameId, Span)> bindDim;
  /// A dimension for `?N` and `_`; null: as bindDim.
  std::function<DimId(NameId, Span)> freshDim;
  /// An immutable `int` value in scope, of a lower-case name or an expression; null: only constants.
  std::function<DimId(syntax::NodeId)> valueDim;
  /// For messages about names in lower case: why one that means a value here is no dimension (nothing if it
  /// means none), and the names that would be. Null: there are no values here.
  std::function<std::string(NameId)> whyNoSize;
  std::function<std::vector<NameId>()> sizesInScope;
  /// The type whose parameters `p.N` reads, for a value `p` in scope.
  std::function<TypeId(NameId)> valueType;
  std::function<void(NameId)> readDim; ///< a name is read as a dimension
  /// A type for a generic parameter that is not bound; null: an error.
  std::function<TypeId(NameId, Span)> bindType;
  /// The part of a type with variables that is solved by now; null: nothing more.
  std::function<TypeId(TypeId)> solved;
};

/// `int`, `f32` and their like.
std::optional<TypeKind> scalarNamed(std::string_view name);

/// Whether a `?N` stands in a type as it is written: its size may stand in several parts.
bool namesSizes(const syntax::Ast& ast, syntax::NodeId type);

class TypeResolver {
public:
  TypeResolver(Checker& checker, ModuleId module, const syntax::Ast& ast, TypeEnv& env)
      : checker_(checker), types_(checker.types), module_(module), ast_(ast), env_(env) {}

  TypeSurroundings around;
  /// Name of the parameter whose type is read: the parameters of a bare generic record are called `p.N`.
  NameId owner;

  /// Names bound by `bindDim` in expressions, `N - 1`, that nowhere stand alone.
  std::map<NameId, Span> unsettled;

  /// A type as it is written; an error where it has more parts than a value may have.
  TypeId type(syntax::NodeId node);
  /// The type of a parameter: in that of an `inout` one, `_` is a size that may change.
  TypeId parameter(syntax::NodeId node, bool isInout);
  /// The type of a result: inside another type, `?N` is a size that comes with the value.
  TypeId result(syntax::NodeId node);
  /// Inside another type: `_` hides a size for each element.
  TypeId nested(syntax::NodeId node);
  /// The type of a field: `_` and `?N` are sizes that are kept beside its value.
  TypeId field(syntax::NodeId node);
  /// `alone`: not inside of an expression, so that a value of the type settles the names in it.
  DimId dim(syntax::NodeId node, bool alone = true);
  /// Name under which a bare record's parameter is bound for `owner`.
  static NameId ownedName(Interner& names, NameId owner, NameId param);

private:
  TypeId form(syntax::NodeId node);
  NameId unnamed();
  TypeId named(syntax::NodeId node);
  TypeId bareList(Span span);
  TypeId ofDecl(DeclId decl, const std::vector<syntax::Argument>* items, Span span);
  TypeId recordType(DeclId decl, const std::vector<syntax::Argument>* items, Span span);
  bool boundsHold(const RecordDecl& record, const std::vector<TypeId>& typeArgs, Span span);
  TypeId alias(DeclId decl, Span span);
  TypeId bracketed(syntax::NodeId node);
  bool asksForSizes(syntax::NodeId node) const;
  TypeId arrayOf(TypeId element, const std::vector<syntax::Argument>& items, Span span);
  DimId binaryDim(const syntax::Binary& binary, Span span);
  DimId notASize(Span span);
  DimId memberDim(syntax::NodeId node);
  void reportNoSize(NameId name, Span span);
  TypeId error(DiagId id, Span span, std::string_view name);
  std::string_view text(NameId n) const { return types_.names.text(n); }

  Checker& checker_;
  TypeStore& types_;
  ModuleId module_;
  const syntax::Ast& ast_;
  TypeEnv& env_;
  std::vector<DimSym>* hidden_ = nullptr;
  bool namesAreExistential_ = false;
  uint32_t anonymous_ = 0;
};

/// Why a parameter of `fn` is no dimension in the type of one before it, or of any; nothing if none has this
/// name.
std::string whyNoSize(Checker& checker, const FunctionDecl& fn, NameId name);

} // namespace melix::check
