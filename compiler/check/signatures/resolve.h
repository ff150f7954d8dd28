#pragma once
// Converts type syntax to types (rules 20-25): names, brackets, dimensions. A name means what the environment
// says; the surroundings determine which values are sizes, and how `?N`, `_` and names without a meaning are
// read.

#include "check/signatures/signature.h"

namespace melix::check {

/// The values that can be seen where a type is written: an immutable `int` among them is a size.
class ValueScope {
public:
  virtual ~ValueScope() = default;
  /// The dimension that an expression stands for; none without a report if it is none.
  virtual DimId sizeOf(syntax::NodeId expr) = 0;
  /// Why a value of this name is no dimension; empty if there is none of that name.
  virtual std::string whyNoSize(NameId name) = 0;
  virtual std::vector<NameId> names() = 0;
  /// The type whose parameters `p.N` reads, for a value `p`; none if there is none.
  virtual TypeId typeOf(NameId name) = 0;
  virtual void noteRead(NameId dim) = 0;
};

/// The part of a signature that is read.
enum class SignaturePart : uint8_t { Parameter, LambdaParameter, Result };

/// The facts at the place where a type is written, beside the names of the environment.
struct TypeSurroundings {
  ValueScope* values = nullptr; ///< null: only constants are sizes
  /// `_` and `?N` are new sizes of this kind. None: the type specifies its sizes.
  std::optional<types::DimSymKind> newSizes = {};
  /// Of a signature that is read: names without a meaning become its variables, which are looked for among
  /// the names `outside` of the function too.
  Signature* signature = nullptr;
  SignaturePart part = SignaturePart::Parameter;
  const TypeEnv* outside = nullptr;
};

/// `int`, `f32` and their like.
std::optional<TypeKind> scalarNamed(std::string_view name);

/// Whether a `?N` stands in a type as it is written: its size may stand in several parts.
bool namesSizes(const syntax::Ast& ast, syntax::NodeId type);

class TypeResolver {
public:
  TypeResolver(Checker& checker, ModuleId module, const syntax::Ast& ast, TypeEnv& env,
               TypeSurroundings around = {})
      : checker_(checker), types_(checker.types), module_(module), ast_(ast), env_(env), around_(around) {}

  /// Name of the parameter whose type is read: the parameters of a bare generic record are called `p.N`.
  NameId owner;
  /// The demands of records on type arguments that are variables of the signature.
  std::vector<SignatureType::Demand> demands;
  /// Sizes as they are written.
  std::vector<std::pair<DimId, Span>> spellings;

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
  TypeId* typeNamed(NameId name);
  DimId* dimNamed(NameId name);
  std::vector<DimId>* packNamed(NameId name, Span span);
  bool isMade() const { return around_.newSizes || namesAreExistential_ || isLambda(); }
  bool isLambda() const { return around_.signature && around_.part == SignaturePart::LambdaParameter; }
  bool isParameter() const { return around_.signature && around_.part != SignaturePart::Result; }
  TypeId newType(NameId name, Span span);
  DimId newSize(NameId name, Span span);
  DimId sizeOfValue(syntax::NodeId node);
  void settle(DimId size);
  bool isOfUse(TypeId type) const;
  NameId unnamed();
  TypeId named(syntax::NodeId node);
  TypeId bareList(Span span);
  TypeId ofDecl(DeclId decl, const std::vector<syntax::Argument>* items, Span span);
  TypeId recordType(DeclId decl, const std::vector<syntax::Argument>* items, Span span);
  bool meetsBounds(const RecordDecl& record, const std::vector<TypeId>& typeArgs, Span span);
  TypeId alias(DeclId decl, Span span);
  TypeId bracketed(syntax::NodeId node);
  bool asksForSizes(syntax::NodeId node) const;
  TypeId arrayOf(TypeId element, const std::vector<syntax::Argument>& items, Span span);
  DimId binaryDim(const syntax::Binary& binary, Span span);
  DimId notASize(Span span);
  DimId memberDim(syntax::NodeId node);
  TypeId error(DiagId id, Span span, std::string_view name);
  std::string_view text(NameId n) const { return types_.names.text(n); }

  Checker& checker_;
  TypeStore& types_;
  ModuleId module_;
  const syntax::Ast& ast_;
  TypeEnv& env_;
  const TypeSurroundings around_;
  std::vector<DimSym>* hidden_ = nullptr;
  bool namesAreExistential_ = false;
  uint32_t anonymous_ = 0;
};

/// Whether type arguments meet the bounds of a record; variables are left open.
bool boundsHold(Checker& checker, const RecordDecl& record, const std::vector<TypeId>& typeArgs, Span span);

/// Reports that a name in lower case is no dimension: `why` it is none (empty if it means no value), and the
/// names that would be one, beside the names of the module.
void reportNoSize(Checker& checker, ModuleId module, NameId name, Span span, std::string why,
                  const std::vector<NameId>& inScope);
/// Reports that an expression is no size, once in a file. In a body a `let` makes a size of an `int`; a size
/// of a result is `_`.
void reportNotASize(Checker& checker, Span span, bool inBody = false);

/// Why a parameter of `fn` is no dimension in the type of one before it, or of any; nothing if none has this
/// name.
std::string whyNoSize(Checker& checker, const FunctionDecl& fn, NameId name);

} // namespace melix::check
