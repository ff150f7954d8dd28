#pragma once
// Makes nodes of one instance's typed tree. Knows nothing of syntax.

#include "check/tree/infer.h"
#include "check/tree/written_quotient.h"
#include "diagnostics/diagnostic.h"
#include "support/function_ref.h"
#include "types/dim_facts.h"

#include <optional>

namespace melix::check {

using ops::OpKind;

/// Whether a type is made of more parts than a value may have; says so, once for a type.
bool isTooLarge(const TypeStore& types, DiagnosticSink& sink, TypeId type, Span span);

class NodeFactory {
public:
  NodeFactory(TypeStore& types, DiagnosticSink& sink, Instance& instance, Trail& trail, Inference& infer)
      : types(types), sink(sink), instance(instance), infer(infer), standsFor(trail), boundTo(trail),
        quotientsOutside(trail) {}

  TypeStore& types;
  DiagnosticSink& sink;
  Instance& instance;
  Inference& infer;

  /// Variables that the program does not name, and the expression of the program that each represents.
  TrailedMap<std::map<LocalId, NodeId>> standsFor;
  /// Variables that never change, and the value that each was bound to.
  TrailedMap<std::map<LocalId, NodeId>> boundTo;
  /// Variables whose value is made of a quotient outside of this body.
  TrailedMap<std::map<LocalId, WrittenQuotient>> quotientsOutside;
  /// Binds the names of a pattern to the parts of `init`.
  void noteBound(PatternId pattern, NodeId init);
  /// The initial value of a variable that never changes; none if it changes, or has its value from elsewhere.
  NodeId valueOf(LocalId l) const;

  // --- nodes
  NodeId make(NodeKind kind, TypeId type, Span span, std::vector<NodeId> children = {}, Payload payload = {});
  /// A value made of parts; where one of them never comes, the parts up to it.
  NodeId composite(NodeKind kind, TypeId type, Span span, std::vector<NodeId> parts, Payload payload = {});
  NodeId error(Span span) { return make(NodeKind::Error, types.error(), span); }
  NodeId unit(Span span) { return make(NodeKind::Tuple, types.unit(), span); }
  NodeId integer(int64_t value, Span span, TypeId type = TypeId::none()); ///< an `int` by default
  /// A number literal as written; its bits are fixed when its type is resolved.
  NodeId number(std::string text, TypeId type, Span span);
  NodeId boolean(bool value, Span span);
  NodeId string(std::string text, Span span);
  NodeId block(std::vector<NodeId> nodes, Span span);
  NodeId tuple(std::vector<NodeId> parts, Span span);
  NodeId local(LocalId l, Span span);
  LocalId newLocal(std::string_view name, TypeId type, Span span, bool isVar = false);
  /// Binds `init` to a fresh local and appends the `let` to `into`; a node that is a plain local read is used
  /// as is.
  LocalId bind(std::string_view name, NodeId init, std::vector<NodeId>& into);
  PatternId bindPattern(LocalId l, TypeId type, Span span);
  NodeId let(LocalId l, NodeId init);
  /// `result`, said of the sizes of `x`: `x` is evaluated before it, unless it is a variable or a part of
  /// one.
  NodeId after(NodeId x, NodeId result, Span span);
  /// The last node of a block; the nodes before it are appended to `before`. Any other node is its own end.
  NodeId endOf(NodeId n, std::vector<NodeId>& before);
  NodeId dimValue(DimId d, Span span);
  NodeId field(NodeId base, uint32_t k, Span span);
  NodeId tuplePart(NodeId base, uint32_t k, Span span) { return field(base, k, span); }
  NodeId at(NodeId base, const std::vector<LocalId>& indices, Span span); ///< one index for each leading axis
  NodeId op(OpKind kind, TypeId type, std::vector<NodeId> operands, Span span, uint32_t index = 0);
  /// Number conversion of a scalar; nothing if the types agree (also once they are resolved).
  NodeId convert(NodeId value, TypeId to, Span span, bool checked = false,
                 ops::ConvertMode mode = ops::ConvertMode::Saturate);
  NodeId collect(const std::vector<DimId>& dims, Span span,
                 FunctionRef<NodeId(const std::vector<LocalId>&)> body);
  NodeId reduce(ops::MonoidKind kind, const std::vector<DimId>& dims, Span span,
                FunctionRef<NodeId(const std::vector<LocalId>&)> body);

  // --- types of nodes
  TypeId typeOf(NodeId n) { return infer.zonk(instance.nodes[n].type); }
  TypeKind kindOf(NodeId n) { return types.kind(typeOf(n)); }
  Span spanOf(NodeId n) const { return instance.nodes[n].span; }
  std::vector<DimId> dimsOf(TypeId t) {
    return types.kind(t) == TypeKind::Array ? types[t].dims : std::vector<DimId>();
  }
  bool isNumber(TypeId element); ///< an integer, float, or open number
  /// A type as messages show it; an open number as the type it becomes by default.
  std::string show(TypeId t);

  /// The value of a whole-number literal (with a sign, perhaps).
  std::optional<int64_t> literal(NodeId n);
  /// The dimension an `int` expression stands for: a literal, a dimension, an immutable variable, or
  /// arithmetic on these; none if it is anything else (a size made from it is then unknown). It is exact, and
  /// the `int` is the same modulo 2^64.
  DimId dimOf(NodeId n);
  /// Whether the dimension of an `int` is the number that the `int` is: nothing wraps on the way.
  bool isExact(DimId d) const { return types::DimFacts(types.dims).isExact(d); }
  bool isLiteral(NodeId n) const;

private:
  DimId combined(OpKind kind, DimId x, DimId y);
};

} // namespace melix::check
