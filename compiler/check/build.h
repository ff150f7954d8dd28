#pragma once
// Makes nodes of one instance's typed tree, and gives operators their meaning on types: mixing of numbers
// (rules 15-17), broadcasting, matrix products, vector-space operations on tangents, structural equality.
// Knows nothing of syntax.

#include "check/infer.h"
#include "diagnostics/diagnostic.h"

#include <functional>
#include <optional>

namespace melix::check {

using ops::OpKind;

enum class BinaryKind : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Pow,
  MatMul,
  Shl,
  Shr,
  BitAnd,
  BitOr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge
};
std::string_view binaryText(BinaryKind kind);

/// What NodeBuilder needs of the checker: calls of library functions by name.
class LibraryCalls {
public:
  virtual ~LibraryCalls() = default;
  /// Calls the prelude function `name`; arguments are evaluated in order.
  virtual NodeId callPrelude(std::string_view name, std::vector<NodeId> args, Span span) = 0;
  /// `==` of what may hold itself (NodeBuilder::isBoxed).
  virtual NodeId callEquality(NodeId a, NodeId b, Span span) = 0;
  /// `x + t` of what may hold itself, or of a value that hides its sizes, with its tangent.
  virtual NodeId callMoved(NodeId x, NodeId t, Span span) = 0;
  /// `s * t` or `t / s` of a tangent that may hold itself.
  virtual NodeId callScaled(BinaryKind kind, NodeId t, NodeId scalar, Span span) = 0;
  /// `dot` of two tangents that may hold themselves.
  virtual NodeId callDotted(NodeId x, NodeId y, Span span) = 0;
  /// An operand of `as` as it is written, for hints; `…` where that is long.
  virtual std::string writtenOperand(Span span) = 0;
  /// What gives the value that a `Result` or `Option` holds, for hints; nothing for other types.
  virtual std::string takesOut(TypeId type) = 0;
};

/// What asks for a type, and where it is declared; either may be missing.
struct Asking {
  std::string_view what = {};
  Span asker = {};
};

/// Whether a type is made of more parts than a value may have; says so, once for a type.
bool isTooLarge(const TypeStore& types, DiagnosticSink& sink, TypeId type, Span span);

class NodeBuilder {
public:
  NodeBuilder(TypeStore& types, DiagnosticSink& sink, Instance& instance, Inference& infer,
              LibraryCalls& library)
      : types(types), sink(sink), instance(instance), infer(infer), library(library) {}

  TypeStore& types;
  DiagnosticSink& sink;
  Instance& instance;
  Inference& infer;
  LibraryCalls& library;

  /// Quotients that meet another number at once, and the element type they meet at: a whole one that meets a
  /// float gets a warning when types are settled.
  std::vector<std::pair<NodeId, TypeId>> quotients;
  /// Quotients of arrays of open numbers: one that is settled as whole is an error.
  struct ArrayQuotient {
    NodeId value; ///< of elements
    TypeId left, right;
  };
  std::vector<ArrayQuotient> arrayQuotients;
  /// Variables that the program does not name, and what of the program each is.
  std::map<LocalId, NodeId> standsFor;

  // --- nodes
  NodeId make(NodeKind kind, TypeId type, Span span, std::vector<NodeId> children = {}, Payload payload = {});
  /// A value made of parts; where one of them never comes, the parts up to it.
  NodeId composite(NodeKind kind, TypeId type, Span span, std::vector<NodeId> parts, Payload payload = {});
  NodeId error(Span span) { return make(NodeKind::Error, types.error(), span); }
  NodeId unit(Span span) { return make(NodeKind::Tuple, types.unit(), span); }
  NodeId integer(int64_t value, Span span, TypeId type = TypeId::none()); ///< an `int` unless said
  /// A number literal as written; its bits are fixed when its type is settled.
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
  NodeId let(LocalId l, NodeId init);
  /// `result`, said of the sizes of `x`: `x` is evaluated before it, unless it is a variable or a part of
  /// one.
  NodeId after(NodeId x, NodeId result, Span span);
  /// What a block ends in; the nodes before it are appended to `before`. Any other node is its own end.
  NodeId endOf(NodeId n, std::vector<NodeId>& before);
  NodeId dimValue(DimId d, Span span);
  NodeId field(NodeId base, uint32_t k, Span span);
  NodeId tuplePart(NodeId base, uint32_t k, Span span) { return field(base, k, span); }
  NodeId at(NodeId base, const std::vector<LocalId>& indices, Span span); ///< one index for each leading axis
  NodeId op(OpKind kind, TypeId type, std::vector<NodeId> operands, Span span, uint32_t index = 0);
  /// Number conversion of a scalar; nothing if the types agree (also once they are settled).
  NodeId convert(NodeId value, TypeId to, Span span, bool checked = false,
                 ops::ConvertMode mode = ops::ConvertMode::Saturate);
  /// A check with the message that would tell of two types when compiling; what is not known in them is told
  /// at run time. `args` follow the two types.
  void reportBadAxis(size_t rank, Span span);
  DimCheckItem withMessage(DimCheckItem check, DiagId id, TypeId left, TypeId right,
                           std::vector<std::string> args);
  /// The same for checks axis by axis; `id` is ShapeMismatch or ShapeExpected.
  std::vector<DimCheckItem> withMessages(std::vector<DimCheckItem> checks, DiagId id, TypeId left,
                                         TypeId right);
  DimCheckItem shapesFit(TypeId left, size_t leftAxis, TypeId right, size_t rightAxis);
  NodeId dimChecks(std::vector<DimCheckItem> checks, Span span, bool written = false);
  void shapesDiffer(TypeId left, size_t leftAxis, TypeId right, size_t rightAxis, Span span,
                    Span rightOperand = Span());
  /// Sizes that cannot be equal where `want` is asked for and `got` is there; `value` is what has this type,
  /// if it is at hand.
  void reportMismatch(const UnifyResult& match, TypeId want, TypeId got, NodeId value, Span span,
                      Asking asking = {});
  /// The same for two values of which neither asks; `rest` are further arguments of the message.
  void reportUnequal(const UnifyResult& match, NodeId left, NodeId right, Span span,
                     DiagId id = DiagId::ShapeMismatch, std::vector<std::string> rest = {});
  void reportBranches(const UnifyResult& match, NodeId first, NodeId other, Span span);
  /// Adds to the last message where a size comes from: the names in it, or the value that has it.
  void noteNames(DimId size);
  void noteOrigin(NodeId value, size_t axis);
  /// Where the operand of lower rank has the first sizes of the other: how it gets axes of size 1 behind
  /// them.
  void hintNewAxes(TypeId left, TypeId right);
  void reportShapes(NodeId left, size_t leftAxis, NodeId right, size_t rightAxis, Span span);
  DimChecks checksOf(std::vector<DimCheckItem> items, bool written);
  /// The node with `checks` made before it, at `type`.
  NodeId checked(NodeId value, TypeId type, std::vector<DimCheckItem> checks, Span span,
                 bool written = false);
  NodeId collect(const std::vector<DimId>& dims, Span span,
                 const std::function<NodeId(const std::vector<LocalId>&)>& body);
  NodeId reduce(NestKind kind, const std::vector<DimId>& dims, Span span,
                const std::function<NodeId(const std::vector<LocalId>&)>& body);

  // --- types of nodes
  TypeId typeOf(NodeId n) { return infer.zonk(instance.nodes[n].type); }
  TypeKind kindOf(NodeId n) { return types.kind(typeOf(n)); }
  Span spanOf(NodeId n) const { return instance.nodes[n].span; }
  std::vector<DimId> dimsOf(TypeId t) {
    return types.kind(t) == TypeKind::Array ? types[t].dims : std::vector<DimId>();
  }
  bool isNumber(TypeId element); ///< an integer, float, or open number
  /// A type as messages show it; an open number as what it becomes if nothing settles it.
  std::string show(TypeId t);

  /// The value of a whole-number literal (with a sign, perhaps).
  std::optional<int64_t> literal(NodeId n);
  /// The dimension an `int` expression stands for: a literal, a dimension, an immutable variable, or
  /// arithmetic on these; none if it is anything else (a size made from it is then unknown).
  DimId dimOf(NodeId n);

  // --- operators
  NodeId binary(BinaryKind kind, NodeId a, NodeId b, Span span);
  NodeId negate(NodeId a, Span span);
  NodeId logicalNot(NodeId a, Span span);
  /// Applies a scalar function element-wise with broadcasting; `resultElement` is the element type of the
  /// result.
  NodeId elementwise(std::vector<NodeId> args, Span span,
                     const std::function<NodeId(std::vector<NodeId>)>& body);
  /// `min max clamp select`: mixed like operators, element-wise.
  NodeId mixedElementwise(std::vector<NodeId> args, Span span,
                          const std::function<NodeId(std::vector<NodeId>, TypeId)>& body);
  NodeId equal(NodeId a, NodeId b, Span span);
  /// The same of two structs or tuples, part by part.
  NodeId equalParts(NodeId a, NodeId b, Span span);
  /// Whether a type may hold itself: enums, Lists, structs with arrays of themselves. What goes through it is
  /// an instance of its own.
  bool isBoxed(TypeId type);
  /// A struct or a tuple of these parts.
  NodeId rebuilt(TypeId type, std::vector<NodeId> parts, Span span);
  NodeId eachPart(NodeId whole, const std::function<NodeId(NodeId)>& each, Span span);
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
  bool isLiteral(NodeId n) const;

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
  struct Mixed {
    TypeId element; ///< none after an error
  };
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
  std::string showAtRun(TypeId type, std::vector<DimId>& shown);
  NodeId operatorError(BinaryKind kind, NodeId a, NodeId b, Span span);
  NodeId asElement(NodeId value, TypeId element, Span span);
  NodeId compareWithU64(ops::CmpKind cmp, NodeId a, NodeId b, Span span);
};

} // namespace melix::check
