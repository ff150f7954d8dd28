#pragma once
// The signature of a function or lambda as data: read once where it is declared, in variables of its own, and
// instantiated by substitution where it is used. Each use gives the values of its variables
// (SignatureUse) and never looks at the syntax.

#include "check/signatures/checker.h"
#include "check/tree/infer.h"

#include <optional>
#include <vector>

namespace melix::check {

/// Where a variable of a signature comes from.
enum class VariableSource : uint8_t {
  Declared, ///< in `[…]`
  Implied,  ///< a parameter's type is the first to name it; or it needs none: `_`, and the arguments of
            ///< a bare record
  Outer,    ///< the function around this one, which has a value for it
  Value,    ///< of sizes: an int, by its name or as an expression
  Found,    ///< of sizes of a result: `?N` or `_`, which the function finds
};

struct TypeVariable {
  NameId name; ///< `T`; `p.T` of a record without its parameters; `p._0` of a `_`
  VariableSource source;
  Span span;
  TypeId standard = {}; ///< its type where nothing determines it, in variables of the signature; none
};

struct SizeVariable {
  NameId name; ///< none of an expression, and of a `_` in a result
  VariableSource source;
  types::DimSym symbol;
  Span span;
  syntax::NodeId written = {}; ///< of Value
  /// Of a name that is not declared: somewhere in a parameter's type, so that an argument determines it.
  bool standsAlone = true;
};

/// A pack of axes, `..S`. In types its symbol stands for all of them.
struct PackVariable {
  NameId name;
  VariableSource source;
  types::DimSym symbol;
  Span span;
};

/// A type of a signature: of a parameter, or of the result.
struct SignatureType {
  TypeId type; ///< none: not written
  Span span;
  /// The text is no type: `SignatureTable::report` says why, to each use.
  bool isWrong = false;
  bool isClosed = false; ///< no variable is in it
  /// A function type as it is written. Its arguments wait for the others, which tell their types.
  bool isFunction = false;
  bool isInout = false;
  bool namesTangent = false;
  /// How few types it fits: 2 a pack, 3 a type parameter, 4 one with a bound, 5 others (overload_order.h).
  int specific = 5;
  std::vector<uint32_t> sizes;       ///< the variables in it
  std::vector<uint32_t> named;       ///< of a result: the parameters that it names
  std::vector<uint32_t> packs;       ///< among its own axes
  size_t axes = 0;                   ///< the others of these
  size_t packsEnd = 0, sizesEnd = 0; ///< variables of the signature up to this type, by number
  /// Sizes as the source spells them, for messages.
  std::vector<std::pair<DimId, Span>> spellings;
  /// The demands of records on type arguments that are variables.
  struct Demand {
    DeclId record;
    std::vector<TypeId> args;
    Span span;
  };
  std::vector<Demand> demands;

  bool isWritten() const { return type.valid(); }
};

struct Signature {
  std::vector<TypeVariable>
      types; ///< the Declared ones, then the Implied ones, as in a key; Outer ones between
  std::vector<SizeVariable> sizes;
  std::vector<PackVariable> packs;
  std::vector<SignatureType> params;
  SignatureType result;
  /// Parameters in the order in which their arguments tell types: functions come last, `Tangent[T]` says
  /// nothing of T.
  std::vector<size_t> order;
  bool isGeneric = false; ///< it has parameters in `[…]`
  /// Whether one of these stands in no parameter's type.
  bool resultDecides = false;

  /// Whether a parameter's type leaves out types: `m: Mlp` of a `struct Mlp[T]`, `xs: List`.
  bool impliesTypes() const;
  /// The type variables as they stand in types: the same in all signatures.
  std::vector<TypeId> variables(TypeStore& store) const;
  /// Add a variable, and give its type.
  TypeId addType(TypeStore& store, NameId name, VariableSource source, Span span);
  DimId addSize(TypeStore& store, NameId name, VariableSource source, Span span);
  DimId addPack(TypeStore& store, NameId name, VariableSource source, Span span);
};

/// The signatures that were read.
class SignatureTable {
public:
  explicit SignatureTable(Checker& checker) : c_(checker) {}

  /// `around`: of a function inside of another one the names there, of which each of its instances has the
  /// same.
  const Signature& of(DeclId function, const TypeEnv* around = nullptr);
  const Signature& ofLambda(const Known& lambda);
  /// Reports the errors in the types of a signature.
  void report(DeclId function, const TypeEnv* around = nullptr);
  void reportLambda(const Known& lambda);
  void forget();

private:
  Checker& c_;
  std::map<std::pair<DeclId, bool>, std::unique_ptr<Signature>>
      functions_; ///< with names around it, or without
  std::map<std::pair<const syntax::Ast*, SynId>, std::unique_ptr<Signature>> lambdas_;
};

/// A signature in use: the values of its variables at one place.
class SignatureUse {
public:
  SignatureUse(Checker& checker, const Signature& signature);

  const Signature& signature;
  /// By number. None: not known yet.
  std::vector<TypeId> types;
  std::vector<DimId> sizes;
  std::vector<std::optional<std::vector<DimId>>> packs;

  /// Takes the Outer variables from the names around the function.
  void takeOuter(const TypeEnv& around);
  /// The type with the variables replaced; an Error type after a message, or where a size is not known.
  /// `solved` resolves the types of `Tangent[T]`.
  TypeId type(const SignatureType& of, Inference* solved = nullptr);
  TypeId parameter(size_t p, Inference* solved = nullptr) { return type(signature.params[p], solved); }
  /// The first pack among the axes of a type that is not known yet.
  std::optional<uint32_t> openPack(const SignatureType& of) const;
  /// A type in variables of the signature.
  TypeId substituted(TypeId type, Inference* solved = nullptr);

private:
  bool demandsMet(const SignatureType& of, Inference* solved);
  TypeId part(TypeId type, Inference* solved);
  TypeId unboundPack(const PackVariable& pack);

  Checker& c_;
  types::DimSubst known_; ///< the sizes of the type at hand
};

} // namespace melix::check
