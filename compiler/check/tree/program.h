#pragma once
// The facts that the checker knows beyond one instance: declarations of records and functions, template
// values, and the table of instances. For diagnostics it also keeps the trace of how an instance came to be
// checked.

#include "check/tree/infer.h"
#include "check/tree/written_quotient.h"
#include "names/modules.h"

#include <memory>
#include <optional>
#include <unordered_map>

namespace melix::check {

using names::DeclId;
using SynId = syntax::NodeId;
using SynKind = syntax::NodeKind;
using SynNode = syntax::Node;
using names::ModuleId;

/// The kind of a generic parameter. Its bound determines it, else its uses in the declaration.
enum class GenericKind : uint8_t { Type, Dim, Pack };

struct GenericParam {
  NameId name;
  GenericKind kind = GenericKind::Dim;
  NameId bound;               ///< of Type; none if unbounded
  syntax::NodeId defaultType; ///< of Type
  bool declared = true;       ///< false: bound implicitly by a parameter's type
  Span span;
};

/// Names of generic parameters and the types and sizes they are bound to: in a declaration being
/// instantiated, in the body of one, and for `?N` names of a block.
struct TypeEnv {
  std::unordered_map<NameId, TypeId> types;
  std::unordered_map<NameId, DimId> dims;
  std::unordered_map<NameId, std::vector<DimId>> packs;
};

/// The shape of a pullback, apart from the value it keeps. Types are in terms of the dimensions of `saved`.
struct PullbackShape {
  types::RecordId saved;
  TypeId seed; ///< of the cotangent it takes
  std::vector<TypeId>
      slopes; ///< its result for each argument of the function, `()` where there is no derivative
  std::vector<uint32_t> wrt; ///< parameters of the instance that these others belong to
  TypeId coreSeed;           ///< the same as Core has them
  std::vector<TypeId> coreSlopes;
  /// Whether Dicts are among them: the pullback keeps, after the saved value, the result and the arguments,
  /// which have the keys.
  bool keepsValues = false;
};

/// A template value: how to call it. Its captures are the parts of its Known type, in order.
///   Pullback  of `vjp`: its capture is the value that the forward sweep saved.
///   Value     a function value (its capture), where something known is needed.
///   Equality  `==` of Lists, and of enums inside of themselves.
///   Moved     `x + t` of Lists, enums and values that hide sizes, with their tangents.
///   Scaled    `s * t` and `t / s` of tangents of Lists and enums.
///   Dotted    `dot(t, u)` of tangents of Lists and enums.
///   Hashed    `hash_of` of values with elements or cases.
///   Keyed     the tangent of a value that holds a Dict: from the form in Core to the form in the program.
///   Placed    the same the other way.
enum class KnownKind : uint8_t {
  Overloads,
  Lambda,
  Transform,
  Intrinsic,
  Constructor,
  Pullback,
  Value,
  Equality,
  Moved,
  Scaled,
  Dotted,
  Hashed,
  Keyed,
  Placed,
  ZeroLike
};
/// Of Overloads: one function inside of another; several of these, as captures; or functions of a script,
/// with the `let`s they see as captures.
struct Nesting {
  bool isNested = false, isSet = false;
  bool joins = false; ///< a nested function that overloads outer functions of its name
  InstanceId owner;   ///< of a nested function: where it stands
};
/// A lambda as it is written; none for other values.
struct WrittenLambda {
  const syntax::Ast* tree = nullptr;
  syntax::NodeId node;
};
/// The axis of a parameter that `vmap` maps over.
struct BatchAxis {
  std::optional<int64_t> number = 0; ///< as `over:` gives it: below 0 from the end; none if it is no literal
  Span written;
};
/// The parameters that a transform is for.
struct NamedParameters {
  std::vector<uint32_t> positions; ///< of `wrt:` or `each:`; empty where it is not written
  std::vector<BatchAxis> axes;     ///< of `over:`: one for each of these, or one for all; empty: axis 0
};
/// The captures of a lambda, as they are where the lambda stands.
struct Captures {
  std::vector<NameId> names;
  std::vector<TypeId> types;                   ///< one for each name
  std::map<NameId, WrittenQuotient> quotients; ///< of the names that are made of one
};
struct Known {
  KnownKind kind = KnownKind::Overloads;
  std::vector<DeclId> candidates; ///< of Overloads
  uint32_t number = 0;            ///< TransformKind, IntrinsicKind, enum case; BinaryKind of Scaled
  std::string literal;            ///< of Scaled: the scalar, where it is an open literal
  DeclId constructor;
  NamedParameters named; ///< of Transform
  // Lambda:
  ModuleId module;
  WrittenLambda lambda;
  std::string name; ///< `main.lambda`
  TypeId asked;     ///< of its result, where the lambda stands for a function type; none
  Captures captures;
  TypeEnv env; ///< generic parameters and dimensions visible there
  Nesting nesting;
  PullbackShape pullback;
};

/// Identity of an instance: the declaration (or template value) and everything that is not a dimension value.
struct InstanceKey {
  DeclId decl;
  KnownId known;
  std::vector<TypeId>
      typeArgs; ///< of Type generics; then the types of untyped parameters and captures, dims renamed
  std::vector<uint32_t> ranks; ///< of packs
  std::vector<types::VarClass>
      open; ///< of the open numbers in typeArgs, which are the variables 0, 1, … (rule 15)
  /// The types that these became, one for each; empty: they stay open, as they are while the body is checked.
  std::vector<TypeId> settled;
  /// The classes of the open numbers of an inferred result, where the call and not an argument decides them.
  std::vector<TypeId> results;
  /// Dimension parameters that a call with a function value determines, by name, in the renamed sizes of
  /// typeArgs: the body is checked at these. Empty: they are numbers of its own.
  std::vector<std::pair<NameId, DimId>> sizes;
  bool isOpen() const { return !open.empty() && settled.empty(); }
  auto operator<=>(const InstanceKey&) const = default;
};

/// The reading side given to `lower` and the driver.
class Program {
public:
  explicit Program(TypeStore& types) : types(types) {}

  TypeStore& types;
  const Instance& instance(InstanceId id) const { return *instances_[id.index]; }
  Instance& instance(InstanceId id) { return *instances_[id.index]; }
  size_t instanceCount() const { return instances_.size(); }
  InstanceId addInstance() {
    instances_.push_back(std::make_unique<Instance>());
    return InstanceId(static_cast<uint32_t>(instances_.size() - 1));
  }

  KnownId addKnown(Known known) { return knowns_.add(std::move(known)); }
  const Known& known(KnownId id) const { return knowns_[id]; }

  /// Whose forward sweep saves such a record.
  std::unordered_map<types::RecordId, InstanceId> savedBy;

private:
  std::vector<std::unique_ptr<Instance>> instances_;
  Store<KnownId, Known> knowns_;
};

} // namespace melix::check
