// `jacobian` and `hessian`: derivatives of all numbers of a result by all numbers of an argument. The
// function runs once; what it saved is swept backwards once for each number of the result, or, where the
// argument has no more numbers than the result, forwards once for each number of the argument.
#include "check/derivatives/derivatives.h"

#include "types/tangent.h"

#include <algorithm>

namespace melix::check {

/// Jacobians of the gradient; of several parameters a tuple of rows.
NodeId Derivatives::hessian(NodeId function, std::vector<NodeId> args, const std::vector<uint32_t>& wrt,
                            Span span) {
  std::vector<NodeId> nodes, rows;
  for (uint32_t w : wrt) { // each gradient has a Jacobian
    if (!differentiable(function, w, args[w])) return b.error(span);
    const TypeId type = b.typeOf(args[w]);
    if (isCounted(types::tangentType(b.types, type))) continue;
    b.sink.report(DiagId::ArgumentKind, b.spanOf(args[w]), "hessian",
                  "floats, arrays, tuples and structs of them", b.show(type));
    return b.error(span);
  }
  args = bindAll(std::move(args), nodes);
  for (uint32_t w : wrt) {
    rows.push_back(jacobians(calls_.gradientOf(function, {w}, span), args, wrt, span));
    if (b.kindOf(rows.back()) == TypeKind::Error) return rows.back();
  }
  nodes.push_back(rows.size() == 1 ? rows[0] : b.tuple(std::move(rows), span));
  return b.block(std::move(nodes), span);
}

NodeId Derivatives::jacobians(NodeId function, std::vector<NodeId> args, const std::vector<uint32_t>& wrt,
                              Span span) {
  std::vector<NodeId> nodes, blocks;
  args = bindAll(std::move(args), nodes);
  for (uint32_t w : wrt) {
    blocks.push_back(jacobian(function, args, w, span));
    if (b.kindOf(blocks.back()) == TypeKind::Error) return blocks.back();
  }
  nodes.push_back(blocks.size() == 1 ? blocks[0] : b.tuple(std::move(blocks), span));
  return b.block(std::move(nodes), span);
}

/// Whether a tangent type is one of numbers in arrays, tuples and structs, whose numbers can be counted.
bool Derivatives::isCounted(TypeId tangent) {
  const TypeId type = b.infer.shallow(tangent);
  if (b.isNumber(type) || b.types.isUnit(type)) return true;
  switch (b.types.kind(type)) {
  case TypeKind::Array: return isCounted(b.types.element(type));
  case TypeKind::Tuple:
    return std::all_of(b.types[type].parts.begin(), b.types[type].parts.end(),
                       [&](TypeId part) { return isCounted(part); });
  case TypeKind::Struct: {
    const size_t fields = b.types.recordInfo(b.types[type].record).cases[0].fields.size();
    for (uint32_t k = 0; k < fields; ++k)
      if (!isCounted(b.types.fieldType(type, 0, k))) return false;
    return !types::holdsItself(b.types, type, true);
  }
  default: return false;
  }
}

std::vector<TypeId> Derivatives::partsOf(TypeId composite) {
  if (b.types.kind(composite) == TypeKind::Tuple) return b.types[composite].parts;
  std::vector<TypeId> out(b.types.recordInfo(b.types[composite].record).cases[0].fields.size());
  for (uint32_t k = 0; k < out.size(); ++k) out[k] = b.types.fieldType(composite, 0, k);
  return out;
}

/// What each part of a tangent type that is a tuple or a struct gives, as a tuple; `()` of parts without
/// numbers.
NodeId Derivatives::eachPartOf(TypeId composite, Span span, FunctionRef<NodeId(uint32_t, TypeId)> each) {
  std::vector<NodeId> out;
  uint32_t k = 0;
  for (TypeId part : partsOf(composite)) {
    out.push_back(b.types.isUnit(part) ? b.unit(span) : each(k, part));
    ++k;
  }
  return b.tuple(std::move(out), span);
}

/// How many numbers a tangent has.
NodeId Derivatives::numbersOf(TypeId tangent, Span span) {
  auto multiplied = [&](NodeId x, NodeId y) { return b.op(OpKind::Mul, b.types.int64(), {x, y}, span); };
  NodeId count = b.integer(1, span);
  const TypeId element = b.infer.shallow(b.types.element(tangent));
  if (!b.isNumber(element)) {
    count = b.integer(0, span);
    for (TypeId part : partsOf(element))
      if (!b.types.isUnit(part))
        count = b.op(OpKind::Add, b.types.int64(), {count, numbersOf(part, span)}, span);
  }
  for (DimId d : b.dimsOf(tangent)) count = multiplied(count, b.dimValue(d, span));
  return count;
}

/// An array of `type` that is `one` at a place and zero elsewhere.
NodeId Derivatives::oneAt(TypeId type, const std::vector<LocalId>& place, NodeId one, Span span) {
  if (place.empty()) return one;
  const TypeId element = b.types.element(type);
  return b.collect(b.dimsOf(type), span, [&](const std::vector<LocalId>& i) {
    NodeId here;
    for (size_t k = 0; k < i.size(); ++k) {
      NodeId same = b.op(OpKind::Cmp, b.types.boolean(), {b.local(i[k], span), b.local(place[k], span)}, span,
                         static_cast<uint32_t>(ops::CmpKind::Eq));
      here = here.valid() ? b.op(OpKind::And, b.types.boolean(), {here, same}, span) : same;
    }
    if (b.isNumber(element))
      return b.op(OpKind::Select, element, {here, one, b.number("0", element, span)}, span);
    return b.make(NodeKind::If, element, span, {here, one, b.op(OpKind::Zero, element, {}, span)});
  });
}

/// Backwards: `pull` of each cotangent that is one at one number of the result. `seed` puts a cotangent of
/// the part at hand, of type `tangent`, into one of the whole result.
NodeId Derivatives::rows(TypeId tangent, FunctionRef<NodeId(NodeId)> seed, FunctionRef<NodeId(NodeId)> pull,
                         Span span) {
  if (b.isNumber(b.infer.shallow(tangent))) return pull(seed(b.number("1", tangent, span)));
  if (b.types.kind(tangent) == TypeKind::Array)
    return b.collect(b.dimsOf(tangent), span, [&](const std::vector<LocalId>& place) {
      return rows(
          b.types.element(tangent), [&](NodeId one) { return seed(oneAt(tangent, place, one, span)); }, pull,
          span);
    });
  const std::vector<TypeId> parts = partsOf(tangent);
  return eachPartOf(tangent, span, [&](uint32_t k, TypeId part) {
    auto within = [&](NodeId one) {
      std::vector<NodeId> all;
      for (uint32_t j = 0; j < parts.size(); ++j)
        all.push_back(j == k                     ? one
                      : b.types.isUnit(parts[j]) ? b.unit(span)
                                                 : b.op(OpKind::Zero, parts[j], {}, span));
      return seed(b.rebuilt(tangent, std::move(all), span));
    };
    return rows(part, within, pull, span);
  });
}

/// Forwards: the tangents of the result, one for each number of the argument, are put in order. `at` reads
/// the part at hand, of type `tangent`, of the tangent at a place of the argument.
NodeId Derivatives::columns(TypeId tangent, const std::vector<DimId>& in,
                            FunctionRef<NodeId(const std::vector<LocalId>&)> at, Span span) {
  if (b.isNumber(b.infer.shallow(tangent))) return b.collect(in, span, at);
  if (b.types.kind(tangent) == TypeKind::Array)
    return b.collect(b.dimsOf(tangent), span, [&](const std::vector<LocalId>& place) {
      return columns(
          b.types.element(tangent), in,
          [&](const std::vector<LocalId>& i) { return b.at(at(i), place, span); }, span);
    });
  return eachPartOf(tangent, span, [&](uint32_t k, TypeId part) {
    return columns(part, in, [&](const std::vector<LocalId>& i) { return b.field(at(i), k, span); }, span);
  });
}

/// Whether sweeping backwards is less work, or the only way: forwards goes from numbers to numbers.
Derivatives::Direction Derivatives::directionFor(TypeId in, TypeId out) {
  const bool isOpen = !b.infer.openVars({in, out}).empty(); // a function over what was saved needs its types
  if (isOpen || !b.isNumber(b.types.element(in)) || b.isNumber(b.infer.shallow(out)))
    return Direction::Backward;
  auto constant = [&](TypeId t) -> std::optional<int64_t> {
    int64_t count = 1;
    if (!b.isNumber(b.types.element(t))) return std::nullopt;
    for (DimId d : b.dimsOf(t)) {
      std::optional<int64_t> c = b.types.dims.asConstant(d);
      if (!c || __builtin_mul_overflow(count, *c, &count)) return std::nullopt;
    }
    return count;
  };
  const std::optional<int64_t> from = constant(in), to = constant(out);
  if (!from || !to) return Direction::Either;
  return *to < *from ? Direction::Backward : Direction::Forward;
}

/// The derivative of every number of the result by the argument: that of a number has the argument's tangent
/// type, arrays of results give arrays of those, and tuples and structs the tuple of their parts'.
NodeId Derivatives::jacobian(NodeId function, std::vector<NodeId> args, uint32_t wrt, Span span) {
  if (!differentiable(function, wrt, args[wrt])) return b.error(span);
  std::vector<NodeId> nodes;
  args = bindAll(std::move(args), nodes);
  const TypeId in = types::tangentType(b.types, b.typeOf(args[wrt]));
  if (b.isNumber(b.infer.shallow(in))) return jacobianOfNumber(function, args, wrt, span);

  Callee callee = prepare(function, args, nodes, span);
  if (!callee.call) return b.error(span);
  settleWhole(callee.result, span);
  callee.result = b.infer.zonk(callee.result);
  const TypeId out = types::tangentType(b.types, callee.result);
  if (!isCounted(out) || b.types.isUnit(out)) {
    b.sink.report(DiagId::JacobianTypes, span, b.show(b.typeOf(args[wrt])), b.show(callee.result));
    return b.error(span);
  }
  const Swept swept = sweep(callee, {args[wrt]}, {wrt}, {in}, nodes, span);
  auto backwards = [&] {
    return rows(
        out, [](NodeId seed) { return seed; },
        [&](NodeId seed) { return pull(swept.shape, b.local(swept.saved, span), seed, span); }, span);
  };
  const Direction direction = directionFor(in, out);
  if (direction == Direction::Backward) {
    nodes.push_back(backwards());
  } else if (direction == Direction::Forward) {
    nodes.push_back(forwards(swept, in, out, span));
  } else {
    NodeId fewer = b.op(OpKind::Cmp, b.types.boolean(), {numbersOf(out, span), numbersOf(in, span)}, span,
                        static_cast<uint32_t>(ops::CmpKind::Lt));
    NodeId byRows = backwards(), byColumns = forwards(swept, in, out, span);
    nodes.push_back(b.make(NodeKind::If, b.typeOf(byRows), span, {fewer, byRows, byColumns}));
  }
  return b.block(std::move(nodes), span);
}

/// By the linear map over what was saved.
NodeId Derivatives::forwards(const Swept& swept, TypeId in, TypeId out, Span span) {
  std::vector<NodeId> nodes;
  NodeId pullback = calls_.pullbackValue(swept.shape, b.local(swept.saved, span), span);
  const std::optional<Swept> map = transposed(pullback, b.op(OpKind::Zero, out, {}, span), nodes, span);
  if (!map) return b.error(span);
  const std::vector<DimId> inDims = b.dimsOf(in);
  NodeId all = b.collect(inDims, span, [&](const std::vector<LocalId>& place) {
    NodeId one = oneAt(in, place, b.number("1", b.types.element(in), span), span);
    return pull(map->shape, b.local(map->saved, span), one, span);
  });
  const LocalId held = b.bind("columns", all, nodes);
  nodes.push_back(columns(
      out, inDims, [&](const std::vector<LocalId>& i) { return b.at(b.local(held, span), i, span); }, span));
  return b.block(std::move(nodes), span);
}

/// One direction is all there is.
NodeId Derivatives::jacobianOfNumber(NodeId function, const std::vector<NodeId>& args, uint32_t wrt,
                                     Span span) {
  NodeId pair = jvpAt(function, args, {wrt}, {b.number("1", b.typeOf(args[wrt]), span)}, span);
  if (b.kindOf(pair) == TypeKind::Error) return pair;
  std::vector<NodeId> nodes;
  const LocalId both = b.bind("both", pair, nodes);
  const TypeId out = b.typeOf(b.tuplePart(b.local(both, span), 1, span));
  if (!isCounted(out) || b.types.isUnit(out)) {
    b.sink.report(DiagId::JacobianTypes, span, b.show(b.typeOf(args[wrt])),
                  b.show(b.typeOf(b.tuplePart(b.local(both, span), 0, span))));
    return b.error(span);
  }
  nodes.push_back(columns(
      out, {}, [&](const std::vector<LocalId>&) { return b.tuplePart(b.local(both, span), 1, span); }, span));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
