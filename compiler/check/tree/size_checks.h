#pragma once
// Checks that sizes agree: makes the checks for run time, and the messages that explain, when compiling, why
// sizes do not agree.

#include "check/tree/library_calls.h"
#include "check/tree/node_factory.h"

namespace melix::check {

/// The context that asks for a type, and where it is declared; either may be missing.
struct Asking {
  std::string_view what = {};
  Span asker = {};
};

class SizeChecks : public NodeFactory {
public:
  SizeChecks(TypeStore& types, DiagnosticSink& sink, Instance& instance, Trail& trail, Inference& infer,
             LibraryCalls& library)
      : NodeFactory(types, sink, instance, trail, infer), library(library) {}

  LibraryCalls& library;

  /// A check with the message that compile-time checking would give for two types; sizes unknown in them are
  /// added at run time. `args` follow the two types.
  DimCheckItem withMessage(DimCheckItem check, DiagId id, TypeId left, TypeId right,
                           std::vector<std::string> args);
  /// The same for checks axis by axis; `id` is ShapeMismatch or ShapeExpected.
  std::vector<DimCheckItem> withMessages(std::vector<DimCheckItem> checks, DiagId id, TypeId left,
                                         TypeId right);
  DimCheckItem shapesFit(TypeId left, size_t leftAxis, TypeId right, size_t rightAxis);
  NodeId dimChecks(std::vector<DimCheckItem> checks, Span span, bool written = false);
  Diagnostic& shapesDiffer(TypeId left, size_t leftAxis, TypeId right, size_t rightAxis, Span span,
                           Span rightOperand = Span());
  /// Reports sizes that cannot be equal: `want` is the expected type and `got` the actual one. `value` is the
  /// node with this type, if it is at hand.
  void reportMismatch(const UnifyResult& match, TypeId want, TypeId got, NodeId value, Span span,
                      Asking asking = {});
  /// The same for two values of which neither asks; `rest` are further arguments of the message.
  Diagnostic& reportUnequal(const UnifyResult& match, NodeId left, NodeId right, Span span,
                            DiagId id = DiagId::ShapeMismatch, std::vector<std::string> rest = {});
  void reportBranches(const UnifyResult& match, NodeId first, NodeId other, Span span);
  /// Adds to a message where a size comes from: the names in it, or the value that has it.
  void noteNames(Diagnostic& to, DimId size);
  void noteOrigin(Diagnostic& to, NodeId value, size_t axis);
  /// Adds a hint to a message, about shapes that do not fit in `left @ right`: the product that fits
  /// with one of them transposed, or with both swapped.
  void hintProduct(Diagnostic& to, NodeId left, NodeId right);
  /// The same for operands that are combined element by element: one is the other's transpose, or lacks axes
  /// of size 1.
  void hintOperands(Diagnostic& to, NodeId left, NodeId right);
  /// How an array, as it is written, gets or loses an axis of size 1 where that is all that it differs by;
  /// else empty.
  std::string axisHint(TypeId want, TypeId got, const std::string& written);
  Diagnostic& reportShapes(NodeId left, size_t leftAxis, NodeId right, size_t rightAxis, Span span);
  DimChecks checksOf(std::vector<DimCheckItem> items, bool written);
  /// The node with `checks` made before it, at `type`.
  NodeId checked(NodeId value, TypeId type, std::vector<DimCheckItem> checks, Span span,
                 bool written = false);
  void reportBadAxis(size_t rank, Span span);
  /// The axis of `rank` that a literal names, below 0 from the end; none after a report.
  std::optional<size_t> axisOf(std::optional<int64_t> literal, size_t rank, Span span);

private:
  bool areSame(DimId a, DimId b) { return infer.zonk(a) == infer.zonk(b); }
  bool areTurned(const std::vector<DimId>& a, const std::vector<DimId>& b);
  /// Where the operand of lower rank has the first sizes of the other: a hint how it gets trailing axes of
  /// size 1.
  void hintNewAxes(Diagnostic& to, NodeId left, NodeId right);
  std::string showAtRun(TypeId type, std::vector<DimId>& shown);
};

} // namespace melix::check
