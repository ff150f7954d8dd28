#pragma once
// Calls the library functions that operators stand for.

#include "check/tree/program.h"

namespace melix::check {

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

/// The services of the checker that making nodes needs: calls of library functions by name, and the text of
/// hints.
class LibraryCalls {
public:
  virtual ~LibraryCalls() = default;
  /// Calls the prelude function `name`; arguments are evaluated in order.
  virtual NodeId callPrelude(std::string_view name, std::vector<NodeId> args, Span span) = 0;
  /// `==` of values that may hold themselves (NodeBuilder::isBoxed).
  virtual NodeId callEquality(NodeId a, NodeId b, Span span) = 0;
  /// `x + t` of a value that may hold itself, or that hides its sizes, with its tangent.
  virtual NodeId callMoved(NodeId x, NodeId t, Span span) = 0;
  /// `s * t` or `t / s` of a tangent that may hold itself.
  virtual NodeId callScaled(BinaryKind kind, NodeId t, NodeId scalar, Span span) = 0;
  /// `dot` of two tangents that may hold themselves.
  virtual NodeId callDotted(NodeId x, NodeId y, Span span) = 0;
  /// An operand of `as` as it is written, for hints; `…` where that is long.
  virtual std::string writtenOperand(Span span) = 0;
  /// The name of an operation that gives the value of a `Result` or `Option`, for hints; empty for other
  /// types.
  virtual std::string takesOut(TypeId type) = 0;
  /// `==` of two structs or enums by a function that a user declared; none if none is.
  virtual NodeId callOwnEquality(NodeId a, NodeId b, Span span) = 0;
};

} // namespace melix::check
