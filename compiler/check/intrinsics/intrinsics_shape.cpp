// Intrinsics that look at shapes, and element-wise functions.
#include "check/intrinsics/intrinsics.h"
#include "check/tree/quotients.h"

#include <algorithm>
#include <numeric>

namespace melix::check {

/// Element by element, at the type that the numbers given have together.
NodeId ArrayIntrinsics::ofNumbers(IntrinsicKind kind, std::vector<NodeId> given, Span span,
                                  FunctionRef<NodeId(std::vector<NodeId>, TypeId)> element) {
  const std::string name(intrinsicName(kind));
  for (NodeId x : given) {
    const TypeId type = b.infer.shallow(b.types.element(b.typeOf(x)));
    if (b.types.kind(type) == TypeKind::Error) return x;
    if (b.isNumber(type)) continue;
    if (!b.lacks(type, "Num", "`" + name + "`", span))
      b.sink.report(DiagId::WantsNumbers, b.spanOf(x), name, b.show(type)).hint =
          kind == IntrinsicKind::Max || kind == IntrinsicKind::Min
              ? "`if a < b { a } else { b }` takes whatever is ordered"
          : b.types.kind(type) == TypeKind::Char || b.types.kind(type) == TypeKind::Bool
              ? "`x as int` converts"
              : "";
    return b.error(span);
  }
  return b.mixedElementwise(std::move(given), span, element);
}

NodeId ArrayIntrinsics::minMax(IntrinsicKind kind, NodeId x, NodeId y, Span span) {
  return ofNumbers(kind, {x, y}, span, [&](std::vector<NodeId> e, TypeId element) {
    return b.op(kind == IntrinsicKind::Max ? OpKind::Max : OpKind::Min, element, std::move(e), span);
  });
}

NodeId ArrayIntrinsics::floatFunction(OpKind op, uint32_t index, NodeId x, std::string_view name, Span span) {
  TypeId element = b.infer.shallow(b.types.element(b.typeOf(x)));
  if (b.types.kind(element) == TypeKind::Error) return b.error(span);
  if (b.infer.isOpen(element))
    b.infer.unify(b.infer.freshVar(types::VarClass::OpenFloat, span), element);
  else if (!b.types.isFloat(element)) {
    if (!b.lacks(element, "Float", "`" + std::string(name) + "`", span)) {
      Diagnostic& d = b.sink.report(DiagId::WantsFloat, span, std::string(name), b.show(b.typeOf(x)));
      d.hint = floatHint(b, x);
      noteQuotient(d, b, x, span);
    }
    return b.error(span);
  }
  return b.elementwise({x}, span,
                       [&](std::vector<NodeId> e) { return b.op(op, element, std::move(e), span, index); });
}

NodeId ArrayIntrinsics::mathFunction(ops::MathKind kind, GivenArgs& args, Span span) {
  auto index = static_cast<uint32_t>(kind);
  NodeId x = args.positional();
  if (ops::mathArity(kind) == 1) return floatFunction(OpKind::Math, index, x, ops::mathName(kind), span);
  return b.mixedElementwise({x, args.positional()}, span, [&](std::vector<NodeId> e, TypeId element) {
    return b.op(OpKind::Math, element, std::move(e), span, index);
  });
}

NodeId ArrayIntrinsics::directedFunction(ops::DirectedKind kind, GivenArgs& args, Span span) {
  std::vector<NodeId> given;
  for (unsigned k = 0; k < ops::directedArity(kind); ++k) {
    NodeId x = args.positional();
    const TypeId element = b.types.element(b.typeOf(x));
    if (b.kindOf(x) == TypeKind::Error) return x;
    if (b.infer.unify(b.types.scalar(TypeKind::F64), element).kind != UnifyKind::Equal) {
      Diagnostic& d = b.sink.report(DiagId::ArgumentType, b.spanOf(x),
                                    std::string(ops::directedRow(kind).name), "f64", b.show(b.typeOf(x)));
      d.hint = floatHint(b, x);
      noteQuotient(d, b, x, b.spanOf(x));
      return b.error(span);
    }
    given.push_back(x);
  }
  return b.mixedElementwise(std::move(given), span, [&](std::vector<NodeId> e, TypeId element) {
    return b.op(OpKind::Directed, element, std::move(e), span, static_cast<uint32_t>(kind));
  });
}

NodeId ArrayIntrinsics::absolute(NodeId x, Span span) {
  TypeId element = b.types.element(b.typeOf(x));
  if (!b.isNumber(element)) {
    if (b.kindOf(x) != TypeKind::Error && !b.lacks(element, "Num", "`abs`", span))
      b.sink.report(DiagId::ArgumentKind, span, "abs", "a number", b.show(b.typeOf(x)));
    return b.error(span);
  }
  return b.elementwise({x}, span,
                       [&](std::vector<NodeId> e) { return b.op(OpKind::Abs, element, std::move(e), span); });
}

NodeId ArrayIntrinsics::select(GivenArgs& args, Span span) {
  NodeId c = args.positional(), x = args.positional(), y = args.positional();
  if (b.types.kind(b.types.element(b.typeOf(c))) != TypeKind::Bool) {
    b.sink.report(DiagId::WantsBool, span, "`select`", b.show(b.typeOf(c)), "compare: `select(x != 0, …)`");
    return b.error(span);
  }
  TypeId element = b.types.element(b.typeOf(x));
  // Numbers meet as under an operator; anything else must agree.
  NodeId probe = b.isNumber(element) ? b.mixedElementwise({x, y}, span,
                                                          [&](std::vector<NodeId> e, TypeId met) {
                                                            element = met;
                                                            return e[0];
                                                          })
                                     : NodeId::none();
  if (probe.valid() ? b.kindOf(probe) == TypeKind::Error
                    : b.infer.unify(element, b.types.element(b.typeOf(y))).kind > UnifyKind::NeedsCheck) {
    if (!probe.valid()) b.sink.report(DiagId::BranchTypes, span, b.show(b.typeOf(x)), b.show(b.typeOf(y)));
    return b.error(span);
  }
  return b.elementwise({c, x, y}, span, [&](std::vector<NodeId> e) {
    return b.op(OpKind::Select, element,
                {e[0], b.convert(e[1], element, span), b.convert(e[2], element, span)}, span);
  });
}

NodeId ArrayIntrinsics::bitsOf(NodeId x, Span span) {
  TypeId element = b.infer.shallow(b.types.element(b.typeOf(x)));
  if (b.infer.isOpen(element)) {
    bool whole = b.infer.varClass(element) == types::VarClass::OpenInt;
    b.infer.unify(whole ? b.types.int64() : b.types.scalar(TypeKind::F32), element);
    element = b.infer.shallow(element);
  }
  TypeKind kind = b.types.kind(element);
  TypeKind to = TypeKind::Error;
  switch (types::scalarBits(kind)) {
  case 8: to = TypeKind::U8; break;
  case 16: to = TypeKind::U16; break;
  case 32: to = TypeKind::U32; break;
  case 64: to = TypeKind::U64; break;
  default: break;
  }
  if (to == TypeKind::Error || types::scalarClass(kind) == types::ScalarClass::Complex) {
    if (kind != TypeKind::Error)
      b.sink.report(DiagId::ArgumentKind, span, "bits", "a number", b.show(b.typeOf(x)));
    return b.error(span);
  }
  return b.elementwise({x}, span, [&](std::vector<NodeId> e) {
    return types::isFloatKind(kind)
               ? b.op(OpKind::Bitcast, b.types.scalar(to), std::move(e), span)
               : b.convert(e[0], b.types.scalar(to), span, false, ops::ConvertMode::Wrap);
  });
}

NodeId ArrayIntrinsics::shapeOf(NodeId x, Span span) {
  std::vector<NodeId> parts;
  for (DimId d : b.dimsOf(b.typeOf(x))) parts.push_back(b.dimValue(d, span));
  return b.after(x, b.tuple(std::move(parts), span), span);
}

NodeId ArrayIntrinsics::lengthOf(NodeId x, Span span) {
  TypeKind kind = b.kindOf(x);
  if (kind == TypeKind::Array) {
    return b.after(x, b.dimValue(b.dimsOf(b.typeOf(x))[0], span), span);
  }
  if (kind == TypeKind::List || kind == TypeKind::Str)
    return b.make(NodeKind::Length, b.types.int64(), span, {x});
  if (kind != TypeKind::Error) b.sink.report(DiagId::WantsArray, span, "len", b.show(b.typeOf(x)));
  return b.error(span);
}

NodeId ArrayIntrinsics::reshape(GivenArgs& args, TypeId expected, Span span) {
  NodeId x = args.positional();
  if (!needArray(x, "reshape", span)) return b.error(span);
  std::vector<DimId> dims;
  std::vector<NodeId> nodes;
  while (args.positionalsLeft() > 0) {
    NodeId size = args.positional();
    DimId d = b.dimOf(size);
    if (!d) {
      LocalId bound = b.bind("size", size, nodes);
      d = b.dimOf(b.local(bound, span));
    }
    if (!d) {
      b.sink.report(DiagId::ArgumentType, span, "reshape", "int", b.show(b.typeOf(size)));
      return b.error(span);
    }
    dims.push_back(d);
  }
  if (dims.empty()) {
    TypeId asked = expected ? b.infer.shallow(expected) : b.types.error();
    if (b.types.kind(asked) != TypeKind::Array && !b.types.isNumber(asked)) {
      b.sink.report(DiagId::NothingSettles, span, "the shape of `reshape`");
      return b.error(span);
    }
    dims = b.dimsOf(b.infer.zonk(expected));
  }
  DimId from = b.types.dims.product(b.dimsOf(b.typeOf(x))), to = b.types.dims.product(dims);
  TypeId type = b.types.array(b.types.element(b.typeOf(x)), dims);
  UnifyKind match = b.infer.unifyDim(to, from);
  if (match == UnifyKind::DimsDiffer) {
    b.sink.report(DiagId::ReshapeSize, span, b.show(b.typeOf(x)), b.show(type),
                  b.types.dims.show(b.infer.zonk(from)), b.types.dims.show(b.infer.zonk(to)));
    return b.error(span);
  }
  if (match == UnifyKind::NeedsCheck) {
    x = b.local(b.bind("x", x, nodes), span); // its sizes may be found by computing it
    nodes.push_back(b.dimChecks(
        {b.withMessage({from, to, "", {}, 0}, DiagId::ReshapeSize, b.typeOf(x), type, {"{0}", "{1}"})}, span,
        true));
  }
  if (dims.empty()) { // its only element
    Step first{StepKind::Index, 0, b.integer(0, span), {}, {}, 1, span};
    Steps steps{std::vector<Step>(b.types.rank(b.typeOf(x)), first)};
    nodes.push_back(b.make(NodeKind::Get, type, span, {x}, std::move(steps)));
    return b.block(std::move(nodes), span);
  }
  nodes.push_back(b.make(NodeKind::Reshape, type, span, {x}));
  return b.block(std::move(nodes), span);
}

NodeId ArrayIntrinsics::permute(GivenArgs& args, Span span) {
  NodeId x = args.positional();
  if (!needArray(x, "permute", span)) return b.error(span);
  std::vector<DimId> dims = b.dimsOf(b.typeOf(x));
  std::vector<size_t> order;
  while (args.positionalsLeft() > 0) {
    auto axis = axesAsWritten(args.positional(), dims.size(), span);
    if (!axis) return b.error(span);
    order.insert(order.end(), axis->begin(), axis->end());
  }
  std::vector<size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<size_t> all(dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    b.reportBadAxis(dims.size(), span);
    return b.error(span);
  }
  return permuted(x, order, span);
}

NodeId ArrayIntrinsics::flip(GivenArgs& args, Span span) {
  NodeId x = args.positional(), over = args.labelled("over");
  if (!needArray(x, "flip", span)) return b.error(span);
  std::vector<DimId> dims = b.dimsOf(b.typeOf(x));
  std::vector<size_t> axes{0};
  if (over.valid()) {
    auto chosen = axesOf(over, dims.size(), span);
    if (!chosen) return b.error(span);
    axes = *chosen;
  }
  std::vector<NodeId> nodes;
  LocalId array = b.bind("x", x, nodes);
  nodes.push_back(b.collect(dims, span, [&](const std::vector<LocalId>& i) {
    Steps steps;
    for (size_t k = 0; k < dims.size(); ++k) {
      NodeId index = b.local(i[k], span);
      if (std::find(axes.begin(), axes.end(), k) != axes.end()) {
        NodeId last = b.dimValue(b.types.dims.sub(dims[k], b.types.dims.constant(1)), span);
        index = b.op(OpKind::Sub, b.types.int64(), {last, index}, span);
      }
      steps.steps.push_back({StepKind::Index, 0, index, {}, {}, 1, span});
    }
    return b.make(NodeKind::Get, b.types.element(b.typeOf(x)), span, {b.local(array, span)},
                  std::move(steps));
  }));
  return b.block(std::move(nodes), span);
}

/// Elements of `a`, then of `b`, along an axis: the index decides which operand is read. Beside a List each
/// is one.
NodeId ArrayIntrinsics::concat(GivenArgs& args, Span span) {
  auto isList = [&](NodeId n) { return b.kindOf(n) == types::TypeKind::List; };
  NodeId x = args.positional();
  if (!isList(x) && !needArray(x, "concat", span)) return b.error(span);
  auto chosen = oneAxis(args, isList(x) ? 1 : b.types.rank(b.typeOf(x)));
  if (!chosen) return b.error(span);
  size_t axis = *chosen;
  NodeId result = x;
  while (args.positionalsLeft() > 0) {
    NodeId y = args.positional();
    if (!isList(y) && !needArray(y, "concat", span)) return b.error(span);
    if (isList(result) || isList(y)) {
      result = b.library.callPrelude("lists_joined", {result, y}, span);
      continue;
    }
    std::vector<NodeId> nodes;
    LocalId left = b.bind("left", result, nodes), right = b.bind("right", y, nodes);
    std::vector<DimId> dims = b.dimsOf(b.typeOf(result)), other = b.dimsOf(b.typeOf(y));
    bool fits = dims.size() == other.size() &&
                b.infer.unify(b.types.element(b.typeOf(result)), b.types.element(b.typeOf(y))).kind ==
                    UnifyKind::Equal;
    TypeId leftType = b.typeOf(result), rightType = b.typeOf(y);
    std::string along = std::to_string(axis);
    if (!fits) {
      b.sink.report(DiagId::ConcatTypes, span, b.show(leftType), b.show(rightType), along);
      return b.error(span);
    }
    std::vector<DimCheckItem> checks;
    for (size_t k = 0; k < dims.size(); ++k) {
      UnifyKind match = k == axis ? UnifyKind::Equal : b.infer.unifyDim(dims[k], other[k]);
      std::string at = std::to_string(k);
      if (match == UnifyKind::NeedsCheck)
        checks.push_back(b.withMessage({dims[k], other[k], "", {}, 0}, DiagId::ConcatShapes, leftType,
                                       rightType, {at, "{0}", at, "{1}", along}));
      if (match != UnifyKind::DimsDiffer) continue;
      UnifyResult differ{match, {}, dims[k], other[k], dims[k], static_cast<uint32_t>(k)};
      b.reportUnequal(differ, result, y, span, DiagId::ConcatShapes, {along});
      return b.error(span);
    }
    if (!checks.empty()) nodes.push_back(b.dimChecks(std::move(checks), span));
    DimId cut = dims[axis];
    std::vector<DimId> shape = dims;
    shape[axis] = b.types.dims.add(cut, other[axis]);
    TypeId element = b.types.element(b.typeOf(result));
    nodes.push_back(b.collect(shape, span, [&](const std::vector<LocalId>& i) {
      NodeId inLeft = b.op(OpKind::Cmp, b.types.boolean(), {b.local(i[axis], span), b.dimValue(cut, span)},
                           span, static_cast<uint32_t>(ops::CmpKind::Lt));
      Steps steps;
      for (size_t k = 0; k < shape.size(); ++k) {
        NodeId index = b.local(i[k], span);
        if (k == axis) index = b.op(OpKind::Sub, b.types.int64(), {index, b.dimValue(cut, span)}, span);
        steps.steps.push_back({StepKind::Index, 0, index, {}, {}, 1, span});
      }
      NodeId fromRight = b.make(NodeKind::Get, element, span, {b.local(right, span)}, std::move(steps));
      return b.make(NodeKind::If, element, span, {inLeft, b.at(b.local(left, span), i, span), fromRight});
    }));
    result = b.block(std::move(nodes), span);
  }
  return result;
}

NodeId ArrayIntrinsics::argSort(GivenArgs& args, Span span) {
  NodeId x = args.positional(), descending = args.labelled("descending");
  if (!needArray(x, "argsort", span)) return b.error(span);
  if (b.types.rank(b.typeOf(x)) != 1) {
    b.sink.report(DiagId::ArgumentKind, span, "argsort", "an array of rank 1", b.show(b.typeOf(x)));
    return b.error(span);
  }
  if (b.lacks(b.typeOf(x), "Ord", "`argsort`", span)) return b.error(span);
  uint32_t down = descending.valid() && b.literal(descending) == 1;
  return b.make(NodeKind::ArgSort, b.types.array(b.types.int64(), b.dimsOf(b.typeOf(x))), span, {x},
                Index{down});
}

} // namespace melix::check
