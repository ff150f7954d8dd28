#pragma once
// The differentiable leaves of a type: the parts that remain after its tuples, structs and known functions
// are replaced by their parts. Derivatives treat each leaf on its own, so a zero in one field never makes
// zeros of the others.
//
//   (f32, Mlp, int)  ->  .0 : f32,  .1.w1 : f32[I, H],  .1.b1 : f32[H]

#include "support/function_ref.h"
#include "transforms/walks/derivative_builder.h"

#include <map>
#include <tuple>
#include <unordered_map>

namespace melix::transforms {

struct Leaf {
  std::vector<uint32_t> path;
  TypeId type;    ///< of the leaf
  TypeId tangent; ///< its tangent's
};

/// One value a leaf; none stands for a symbolic zero.
using Tangents = std::vector<ValueId>;
/// Whether each leaf depends on the differentiated values.
using LeafBits = std::vector<bool>;

/// The parts that count as leaves.
enum class LeafKind : uint8_t {
  Differentiable, ///< leaves that carry a derivative
  All,
  /// Leaves that carry a derivative, of elements of arrays and lists too: each is that part of all elements.
  Inside,
};

class Leaves {
public:
  explicit Leaves(types::TypeStore& types, LeafKind kind = LeafKind::Differentiable)
      : types_(types), kind_(kind) {}

  const std::vector<Leaf>& of(TypeId type);
  size_t count(TypeId type) { return of(type).size(); }
  /// Whether its parts are the leaves: tuples, structs, known functions.
  bool isBundle(TypeId type) const;
  /// Whether parts of elements are leaves.
  bool hasInnerStructure() const { return kind_ == LeafKind::Inside; }
  /// For an array or list whose leaves are the leaves of its elements: the element type; else the type
  /// itself.
  TypeId inside(TypeId type);
  uint32_t kidCount(TypeId type) const;
  TypeId kid(TypeId type, uint32_t k) const;
  /// Leaves [first, first + second) of `type` are the leaves of its kid `k`.
  std::pair<uint32_t, uint32_t> range(TypeId type, uint32_t k);

  TypeId tangent(TypeId type);

  /// The leaves of `value`, whose type is a tangent type of `type` (or `type` itself when `ofTangent` is
  /// false).
  std::vector<ValueId> splitLeaves(Emit& e, ValueId value, TypeId type, bool ofTangent);
  /// A value of the tangent type of `type` from its leaves, all present.
  ValueId putTogether(Emit& e, TypeId type, const std::vector<ValueId>& leaves);

  /// A call of the function that makes a value of type `result` of `x`: one for each purpose and two types up
  /// to sizes, with the body that `body` makes, which may call it. So types that hold themselves are gone
  /// through.
  using FunctionBody = FunctionRef<ValueId(Emit& e, TypeId result, ValueId x)>;
  ValueId throughFunction(Emit& e, const std::string& purpose, ValueId x, TypeId result, FunctionBody body);

private:
  void collect(TypeId type, std::vector<uint32_t>& path, std::vector<Leaf>& out);
  bool holdsItself(TypeId type, std::vector<TypeId>& around);
  ValueId build(Emit& e, TypeId type, const std::vector<ValueId>& leaves, size_t& at);

  types::TypeStore& types_;
  LeafKind kind_;
  std::unordered_map<TypeId, std::vector<Leaf>> leaves_;
  std::map<std::tuple<std::string, TypeId, TypeId>, FunctionId> functions_;
  std::vector<DimSym> sizes_; ///< these number sizes: parameters of the functions
};

} // namespace melix::transforms
