#pragma once
// Gives operators their meaning on types: mixing of numbers (rules 15-17), broadcasting, matrix products,
// vector-space operations on tangents, structural equality. Knows nothing of syntax.

#include "check/tree/size_checks.h"
#include "support/function_ref.h"

namespace melix::check {

class NodeBuilder : public SizeChecks {
public:
  NodeBuilder(TypeStore& types, DiagnosticSink& sink, Instance& instance, Trail& trail, Inference& infer,
              LibraryCalls& library)
      : SizeChecks(types, sink, instance, trail, infer, library), arrayQuotients(trail) {}

  /// Quotients of arrays of open numbers: one that is resolved as whole is an error.
  struct ArrayQuotient {
    NodeId value; ///< of elements
    TypeId left, right;
  };
  TrailedVector<ArrayQuotient> arrayQuotients;

  /// The function of the library that `x ^ k` calls.
  static constexpr std::string_view powerFunction = "pow_int";

  // --- operators
  NodeId binary(BinaryKind kind, NodeId a, NodeId b, Span span);
  NodeId negate(NodeId a, Span span);
  NodeId logicalNot(NodeId a, Span span);
  /// Applies a scalar function element-wise with broadcasting; `resultElement` is the element type of the
  /// result.
  NodeId elementwise(std::vector<NodeId> args, Span span, FunctionRef<NodeId(std::vector<NodeId>)> body);
  /// `min max clamp select`: mixed like operators, element-wise.
  NodeId mixedElementwise(std::vector<NodeId> args, Span span,
                          FunctionRef<NodeId(std::vector<NodeId>, TypeId)> body);
  NodeId equal(NodeId a, NodeId b, Span span);
  /// The same of two structs or tuples, part by part.
  NodeId equalParts(NodeId a, NodeId b, Span span);
  /// Whether a type may hold itself: enums, Lists, structs with arrays of themselves. Code that walks such a
  /// value is an instance of its own.
  bool isBoxed(TypeId type);
  /// A struct or a tuple of these parts.
  NodeId rebuilt(TypeId type, std::vector<NodeId> parts, Span span);
  /// `var out = []; for k in 0..count { out.push(element_at(k)) }; out`
  NodeId listOfEach(TypeId element, NodeId count, FunctionRef<NodeId(const Step&)> element_at, Span span);
  /// `list[k]`
  NodeId elementOf(NodeId list, const Step& k, Span span);
  NodeId eachPart(NodeId whole, FunctionRef<NodeId(NodeId)> each, Span span);
  /// Whether `type`, or its elements, are of a type parameter that is not known to meet `bound`, which `what`
  /// wants: says so.
  bool lacks(TypeId type, std::string_view bound, std::string_view what, Span span);
  /// The same of any type parameter inside of a type.
  bool lacksInside(TypeId type, std::string_view bound, std::string_view what, Span span);
  /// `x + t`, where `t` has the tangent type of `x`.
  NodeId moved(NodeId x, NodeId t, Span span) {
    return addTangent(BinaryKind::Add, x, t, typeOf(x), typeOf(t), span);
  }
  /// `a ± b` of a struct or a tuple `type` and its tangent, part by part; without `a` the tangent or its
  /// negative.
  NodeId addParts(BinaryKind kind, NodeId a, NodeId b, TypeId type, Span span);
  /// `scalar * tangent` or `tangent / scalar`, leaf by leaf.
  NodeId scaleTangent(BinaryKind kind, NodeId tangent, NodeId scalar, Span span);

  /// A value that hides its sizes, with these named.
  struct Opened {
    std::vector<NodeId> nodes; ///< before the value
    NodeId value;
    std::vector<DimId> sizes;
  };
  Opened open(NodeId packed, Span span);
  /// An element as sums add it: integers narrower than 64 bits and bools sum in `int` (rules 16 and 19).
  NodeId summable(NodeId value, Span span);

private:
  TypeId commonElement(NodeId a, NodeId b, std::string_view what, Span span);
  TypeId commonWithParam(NodeId a, NodeId b, std::string_view what, Span span);
  NodeId compareParams(BinaryKind kind, NodeId a, NodeId b, Span span);
  bool lacksFor(BinaryKind kind, TypeId type, Span span);
  TypeId widerInt(TypeKind a, TypeKind b);
  NodeId scalarBinary(BinaryKind kind, NodeId a, NodeId b, TypeId element, Span span);
  NodeId power(NodeId a, NodeId b, Span span);
  NodeId powerLiteral(NodeId a, int64_t k, Span span);
  NodeId matmul(NodeId a, NodeId b, Span span);
  NodeId structural(BinaryKind kind, NodeId a, NodeId b, Span span);
  NodeId equalSizesToo(NodeId a, NodeId b, Span span);
  NodeId addTangent(BinaryKind kind, NodeId a, NodeId b, TypeId type, TypeId tangent, Span span);
  std::string eachHint(BinaryKind kind, NodeId a, NodeId b);
  std::string textHint(BinaryKind kind, NodeId a, NodeId b);
  NodeId operatorError(BinaryKind kind, NodeId a, NodeId b, Span span);
  NodeId asText(NodeId value);
  NodeId compareWithU64(ops::CmpKind cmp, NodeId a, NodeId b, Span span);
};

} // namespace melix::check
