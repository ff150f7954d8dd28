// Array functions along an axis that is named when compiling, and those that take any number of arrays or
// sizes.
#include "check/intrinsics/intrinsics.h"

#include <algorithm>
#include <numeric>

namespace melix::check {

/// Axis `order[k]` of `x` becomes axis k.
NodeId ArrayIntrinsics::permuted(NodeId x, const std::vector<size_t>& order, Span span) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  std::vector<DimId> dims = b.dimsOf(b.typeOf(x)), shape;
  std::vector<NodeId> nodes;
  LocalId array = b.bind("x", x, nodes);
  for (size_t axis : order) shape.push_back(dims[axis]);
  nodes.push_back(b.collect(shape, span, [&](const std::vector<LocalId>& i) {
    std::vector<LocalId> index(dims.size());
    for (size_t k = 0; k < order.size(); ++k) index[order[k]] = i[k];
    return b.at(b.local(array, span), index, span);
  }));
  return b.block(std::move(nodes), span);
}

/// Axis `from` of `x` stands at `to`; the others keep their order.
NodeId ArrayIntrinsics::movedAxis(NodeId x, size_t from, size_t to, Span span) {
  std::vector<size_t> order(b.types.rank(b.typeOf(x)));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + static_cast<ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<ptrdiff_t>(to), from);
  return permuted(x, order, span);
}

/// The one axis that `over:` says of `rank`, or 0; none after a report.
std::optional<size_t> ArrayIntrinsics::oneAxis(GivenArgs& args, size_t rank) {
  NodeId over = args.labelled("over");
  if (!over.valid()) return 0;
  auto axes = axesOf(over, rank, b.spanOf(over));
  if (axes && axes->size() == 1) return axes->front();
  if (axes) b.reportBadAxis(rank, b.spanOf(over));
  return std::nullopt;
}

NodeId ArrayIntrinsics::cumsum(GivenArgs& args, Span span) {
  NodeId x = args.positional();
  if (!needArray(x, "cumsum", span)) return b.error(span);
  if (!reduces(IntrinsicKind::Cumsum, b.types.element(b.typeOf(x)), span)) return b.error(span);
  auto axis = oneAxis(args, b.types.rank(b.typeOf(x)));
  if (!axis) return b.error(span);
  const TypeId element = b.types.element(b.typeOf(x));
  const bool isNumber = b.isNumber(element) || b.infer.isOpen(b.infer.shallow(element));
  NodeId sums = b.library.callPrelude(isNumber ? "running_sums" : "running_sums_of_parts",
                                      {movedAxis(x, *axis, 0, span)}, span);
  return b.kindOf(sums) == TypeKind::Error ? sums : movedAxis(sums, 0, *axis, span);
}

/// Values of one shape along a new axis, the first without `over:`.
NodeId ArrayIntrinsics::stack(GivenArgs& args, Span span) {
  std::vector<NodeId> items{args.positional()};
  TypeId type = b.typeOf(items[0]);
  auto axis = oneAxis(args, b.types.rank(type) + 1);
  if (!axis) return b.error(span);
  while (args.positionalsLeft() > 0) {
    NodeId item = args.positional();
    UnifyResult match = b.infer.unify(type, b.typeOf(item));
    if (match.kind == UnifyKind::DimsDiffer) b.reportUnequal(match, items[0], item, span);
    if (match.kind == UnifyKind::Mismatch)
      b.sink.report(DiagId::ConcatTypes, span, b.show(type), b.show(b.typeOf(item)), std::to_string(*axis));
    if (match.kind > UnifyKind::NeedsCheck) return b.error(span);
    if (match.kind == UnifyKind::NeedsCheck) {
      auto checks = b.withMessages(std::move(match.checks), DiagId::ShapeExpected, type, b.typeOf(item));
      item = b.checked(item, type, std::move(checks), span);
    }
    items.push_back(item);
  }
  type = b.infer.zonk(type);
  std::vector<DimId> dims = b.dimsOf(type);
  dims.insert(dims.begin(), b.types.dims.constant(static_cast<int64_t>(items.size())));
  TypeId stacked = b.types.array(b.types.element(type), std::move(dims));
  return movedAxis(b.make(NodeKind::ArrayOf, stacked, span, std::move(items)), 0, *axis, span);
}

/// `zeros(n, m, …)`, `ones(n, m, …)`, `fill(value, n, m, …)`: the same at each place.
NodeId ArrayIntrinsics::ofSizes(IntrinsicKind kind, GivenArgs& args, TypeId expected, Span span) {
  std::vector<NodeId> nodes;
  NodeId value;
  if (kind == IntrinsicKind::Fill) {
    value = b.local(b.bind("value", args.positional(), nodes), span);
  } else {
    bool asked = expected && b.types.kind(b.infer.zonk(expected)) == TypeKind::Array;
    TypeId element =
        asked ? b.types.element(b.infer.zonk(expected)) : b.infer.freshVar(types::VarClass::OpenFloat, span);
    value = b.number(kind == IntrinsicKind::Ones ? "1" : "0", element, span);
  }
  std::vector<DimId> dims;
  while (args.positionalsLeft() > 0) {
    NodeId size = args.positional();
    if (b.infer.unify(b.types.int64(), b.typeOf(size)).kind != UnifyKind::Equal) {
      b.sink.report(DiagId::ArgumentType, b.spanOf(size), std::string(intrinsicName(kind)), "int",
                    b.show(b.typeOf(size)));
      return b.error(span);
    }
    dims.push_back(b.dimOf(size));
    if (!dims.back()) dims.back() = b.dimOf(b.local(b.bind("size", size, nodes), span));
  }
  nodes.push_back(b.collect(dims, span, [&](const std::vector<LocalId>&) { return value; }));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
