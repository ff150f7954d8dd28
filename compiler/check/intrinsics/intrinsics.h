#pragma once
// The functions of intrinsics.def: their typing, and their nodes in the typed tree.

#include "check/tree/build.h"

#include <optional>
#include <span>

namespace melix::check {

enum class IntrinsicKind : uint8_t {
#define INTRINSIC(Kind, Name, Signature, Doc) Kind,
#include "check/intrinsics/intrinsics.def"
#include "support/function_ref.h"
};
std::optional<IntrinsicKind> findIntrinsic(std::string_view name);
std::string_view intrinsicName(IntrinsicKind kind);
/// An intrinsic as people read it: `(x: T[..S], over: Axes) -> …`, and a line of documentation.
struct IntrinsicText {
  std::string_view name, signature, doc;
};
std::span<const IntrinsicText> intrinsicTexts();
/// Its signature and its purpose, for a call that does not fit.
std::string intrinsicHint(IntrinsicKind kind);
/// Positional arguments that a call needs.
size_t leastArguments(IntrinsicKind kind);
/// Whether the expected type determines the result of a call, beside its arguments.
bool infersFromExpected(IntrinsicKind kind);

/// Whether arguments of this label name parameters of a function: `wrt: x`, `each: (x, y)`.
bool namesParameters(std::string_view label);

/// An argument as the call gives it, already checked.
struct GivenArg {
  NodeId node;
  std::string_view label; ///< empty for a positional one
  Span span;
};

/// The arguments of an intrinsic call, taken one by one; arguments left over are reported.
class GivenArgs {
public:
  explicit GivenArgs(std::vector<GivenArg> args) : args_(std::move(args)), used_(args_.size(), false) {}
  NodeId positional();               ///< the next positional one, or none
  NodeId labelled(std::string_view); ///< the one so named, or none
  size_t positionalsLeft() const;
  const GivenArg* firstUnused() const;

private:
  std::vector<GivenArg> args_;
  std::vector<bool> used_;
};

/// Array functions: reductions, shapes, element-wise functions, lists, conversion of bits. `expected` is the
/// type asked for, if any. Gives none for an intrinsic that needs the checker itself (functions as
/// arguments).
class ArrayIntrinsics {
public:
  explicit ArrayIntrinsics(NodeBuilder& build) : b(build) {}
  NodeId call(IntrinsicKind kind, GivenArgs& args, TypeId expected, Span span);
  /// A reduction whose body and axes are a generator's, given as a Collect nest that becomes the reduction.
  NodeId reduceGenerator(IntrinsicKind kind, NodeId generator, Span span);
  static bool takesGenerator(IntrinsicKind kind);
  bool reduces(IntrinsicKind kind, TypeId element, Span span);
  NodeId summand(IntrinsicKind kind, NodeId value, Span span);
  NodeId meanOf(NodeId total, TypeId element, NodeId count, Span span);

private:
  NodeId reduction(IntrinsicKind kind, GivenArgs& args, Span span);
  using ElementAt = FunctionRef<NodeId(const std::vector<LocalId>&)>;
  using OfReduced = FunctionRef<NodeId(const std::vector<DimId>& extents, ElementAt read)>;
  NodeId alongKept(NodeId x, const std::vector<size_t>& axes, bool keep, Span span, OfReduced value);
  NodeId reduceAxes(IntrinsicKind kind, NodeId x, const std::vector<size_t>& axes, bool keep, Span span);
  bool isIntOrBool(TypeId element);
  NodeId logSumExp(NodeId x, const std::vector<size_t>& axes, bool keep, Span span);
  NodeId ofNumbers(IntrinsicKind kind, std::vector<NodeId> given, Span span,
                   FunctionRef<NodeId(std::vector<NodeId>, TypeId)> element);
  NodeId minMax(IntrinsicKind kind, NodeId x, NodeId y, Span span);
  NodeId floatFunction(OpKind op, uint32_t index, NodeId x, std::string_view name, Span span);
  NodeId mathFunction(ops::MathKind kind, GivenArgs& args, Span span);
  NodeId directedFunction(ops::DirectedKind kind, GivenArgs& args, Span span);
  NodeId absolute(NodeId x, Span span);
  NodeId select(GivenArgs& args, Span span);
  NodeId bitsOf(NodeId x, Span span);
  NodeId shapeOf(NodeId x, Span span);
  NodeId lengthOf(NodeId x, Span span);
  NodeId reshape(GivenArgs& args, TypeId expected, Span span);
  NodeId permute(GivenArgs& args, Span span);
  NodeId permuted(NodeId x, const std::vector<size_t>& order, Span span);
  NodeId movedAxis(NodeId x, size_t from, size_t to, Span span);
  std::optional<size_t> oneAxis(GivenArgs& args, size_t rank);
  NodeId cumsum(GivenArgs& args, Span span);
  NodeId stack(GivenArgs& args, Span span);
  NodeId ofSizes(IntrinsicKind kind, GivenArgs& args, TypeId expected, Span span);
  NodeId concat(GivenArgs& args, Span span);
  NodeId flip(GivenArgs& args, Span span);
  NodeId argSort(GivenArgs& args, Span span);
  std::optional<std::vector<size_t>> axesAsWritten(NodeId over, size_t rank, Span span);
  std::optional<std::vector<size_t>> axesOf(NodeId over, size_t rank, Span span);
  bool needArray(NodeId x, std::string_view name, Span span);

  NodeBuilder& b;
};

} // namespace melix::check
