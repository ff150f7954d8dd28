// Vector-space operators on tangents (rule 40) and structural equality (rule 18).
#include "check/tree/build.h"
#include "check/tree/literal_sign.h"
#include "types/tangent.h"

namespace melix::check {

namespace {

bool isRecordLike(TypeKind kind) { return kind == TypeKind::Struct || kind == TypeKind::Tuple; }

size_t partCount(TypeStore& types, TypeId t) {
  return types.kind(t) == TypeKind::Tuple ? types[t].parts.size()
                                          : types.recordInfo(types[t].record).cases[0].fields.size();
}

} // namespace

bool NodeBuilder::isBoxed(TypeId type) {
  TypeKind k = types.kind(type);
  return k == TypeKind::Enum || k == TypeKind::List ||
         (k == TypeKind::Struct && types::holdsItself(types, type, false));
}

/// `a op b` leaf by leaf, where b has the tangent type of a; the leaves of a that have no tangent are kept.
NodeId NodeBuilder::addTangent(BinaryKind kind, NodeId a, NodeId b, TypeId type, TypeId tangent, Span span) {
  if (types.isUnit(tangent)) return a.valid() ? a : unit(span);
  TypeKind k = types.kind(type);
  if (types.kind(types.element(tangent)) == TypeKind::Slope)
    return op(kind == BinaryKind::Sub ? OpKind::Sub : OpKind::Add, type,
              a.valid() ? std::vector{a, b} : std::vector{b}, span);
  if (isNumber(types.element(type))) return a.valid() ? binary(kind, a, b, span) : negate(b, span);
  if (types::holdsDict(types, type) && (!a.valid() || kind == BinaryKind::Sub)) {
    const TypeId open = infer.freshVar(types::VarClass::OpenFloat, span);
    NodeId minusOne = op(OpKind::Neg, open, {number("1", open, span)}, span, signOfLiteral);
    NodeId negative = scaleTangent(BinaryKind::Mul, b, minusOne, span);
    return a.valid() ? addTangent(BinaryKind::Add, a, negative, type, tangent, span) : negative;
  }
  if (types.isDict(type))
    return library.callPrelude(type == tangent ? "dict_sum" : "dict_moved", {a, b}, span);
  if (k == TypeKind::Array)
    return collect(dimsOf(type), span, [&](const std::vector<LocalId>& axes) {
      std::vector<NodeId> nodes;
      NodeId left = a.valid() ? at(a, axes, span) : NodeId::none();
      return addTangent(kind, left, at(b, axes, span), types.element(type), types.element(tangent), span);
    });
  if (!isRecordLike(k) || isBoxed(type)) {
    NodeId right = kind == BinaryKind::Sub ? op(OpKind::Neg, tangent, {b}, span) : b;
    if (!a.valid()) return right;
    const bool byLeaf = type == tangent && !types::holdsDict(types, type);
    if (byLeaf) return op(OpKind::Add, type, {a, right}, span);
    bool called = isBoxed(type) || k == TypeKind::Pack;
    return called ? library.callMoved(a, right, span) : operatorError(kind, a, b, span);
  }
  return addParts(kind, a, b, type, span);
}

NodeId NodeBuilder::addParts(BinaryKind kind, NodeId a, NodeId b, TypeId type, Span span) {
  std::vector<NodeId> parts;
  for (uint32_t f = 0; f < partCount(types, type); ++f) {
    NodeId right = field(b, f, span);
    NodeId left = a.valid() ? field(a, f, span) : NodeId::none();
    TypeId part = typeOf(a.valid() ? left : right);
    parts.push_back(addTangent(kind, left, right, part, typeOf(right), span));
  }
  return rebuilt(type, std::move(parts), span);
}

NodeId NodeBuilder::rebuilt(TypeId type, std::vector<NodeId> parts, Span span) {
  bool isTuple = types.kind(type) == TypeKind::Tuple;
  return make(isTuple ? NodeKind::Tuple : NodeKind::Struct, type, span, std::move(parts));
}

/// `s * t`, `t / s` leaf by leaf; the leaves that have no tangent are kept.
NodeId NodeBuilder::scaleTangent(BinaryKind kind, NodeId tangent, NodeId scalar, Span span) {
  TypeId type = typeOf(tangent);
  TypeKind k = types.kind(type);
  if (types.isUnit(types::tangentType(types, infer.zonk(type)))) return tangent;
  if (types.kind(types.element(type)) == TypeKind::Slope)
    return op(OpKind::Mul, type, {tangent, scalar}, span);
  if (isNumber(types.element(type))) {
    TypeId element = types.element(type);
    return elementwise({tangent}, span, [&](std::vector<NodeId> e) {
      // The scalar is rounded to the leaf's type; an open literal is exact until then.
      bool exact = infer.isOpen(typeOf(scalar)) && isLiteral(scalar);
      bool negative = exact && instance.nodes[scalar].kind == NodeKind::Op;
      NodeId literal = negative ? instance.nodes[scalar].children[0] : scalar;
      NodeId factor = exact ? number(instance.nodes[literal].as<Const>().text, element, span)
                            : convert(scalar, element, span);
      if (negative) factor = op(OpKind::Neg, element, {factor}, span);
      return op(kind == BinaryKind::Div ? OpKind::Div : OpKind::Mul, element, {e[0], factor}, span);
    });
  }
  if (k == TypeKind::Array)
    return collect(dimsOf(type), span, [&](const std::vector<LocalId>& axes) {
      return scaleTangent(kind, at(tangent, axes, span), scalar, span);
    });
  if (isBoxed(type)) return library.callScaled(kind, tangent, scalar, span);
  if (k == TypeKind::Pack) {
    Opened opened = open(tangent, span);
    opened.nodes.push_back(make(NodeKind::Pack, type, span, {scaleTangent(kind, opened.value, scalar, span)},
                                Dims{opened.sizes}));
    return block(std::move(opened.nodes), span);
  }
  if (!isRecordLike(k)) return operatorError(kind, tangent, scalar, span);
  return eachPart(tangent, [&](NodeId part) { return scaleTangent(kind, part, scalar, span); }, span);
}

NodeId NodeBuilder::eachPart(NodeId whole, FunctionRef<NodeId(NodeId)> each, Span span) {
  std::vector<NodeId> parts;
  for (uint32_t f = 0; f < partCount(types, typeOf(whole)); ++f) parts.push_back(each(field(whole, f, span)));
  return rebuilt(typeOf(whole), std::move(parts), span);
}

/// Operators on structs, tuples and their tangents: `x ± t`, `-t`, `s * t`, `t * s`, `t / s`.
NodeId NodeBuilder::structural(BinaryKind kind, NodeId a, NodeId b, Span span) {
  auto composite = [&](NodeId n) {
    TypeKind k = types.kind(types.element(typeOf(n)));
    return isRecordLike(k) || k == TypeKind::Enum || k == TypeKind::List || k == TypeKind::Known ||
           k == TypeKind::Pack || k == TypeKind::Param || k == TypeKind::Slope;
  };
  auto toFloats = [&](NodeId n) { // whole literals in what has tangents are floats
    for (TypeId open : infer.openVars({typeOf(n)}))
      if (infer.varClass(open) == types::VarClass::OpenInt)
        infer.unify(infer.freshVar(types::VarClass::OpenFloat, span), open);
  };
  std::vector<NodeId> nodes;
  if (!a.valid()) { // negation
    if (TypeId type = infer.zonk(typeOf(b)); !composite(b) || types::tangentType(types, type) != type) {
      if (!lacks(type, "Num", "`-`", span)) sink.report(DiagId::OperandType, span, "`-`", show(type));
      return error(span);
    }
    toFloats(b);
    LocalId t = bind("t", b, nodes);
    nodes.push_back(addTangent(kind, NodeId::none(), local(t, span), typeOf(b),
                               types::tangentType(types, typeOf(b)), span));
    return block(std::move(nodes), span);
  }
  auto isUnsettled = [&](NodeId n) { // what an Option holds may still be anything
    const std::vector<TypeId> open = infer.openVars({typeOf(n)});
    return composite(n) && std::any_of(open.begin(), open.end(), [&](TypeId var) {
             return infer.varClass(var) == types::VarClass::Any;
           });
  };
  if (isUnsettled(a) || isUnsettled(b)) return operatorError(kind, a, b, span);
  bool additive = kind == BinaryKind::Add || kind == BinaryKind::Sub;
  auto isList = [&](NodeId n) { return types.kind(typeOf(n)) == TypeKind::List; };
  if (additive && isList(a) && isList(b)) // numbers in a List stay what they are
    for (TypeId open : infer.openVars({typeOf(a), typeOf(b)}))
      if (infer.varClass(open) == types::VarClass::OpenInt) infer.unify(types.int64(), open);
  if (additive && composite(a)) {
    TypeId tangent = types::tangentType(types, typeOf(a));
    UnifyResult match = infer.unify(tangent, typeOf(b));
    if (!types.isUnit(tangent) && match.kind == UnifyKind::DimsDiffer) {
      reportMismatch(match, tangent, typeOf(b), b, span);
      return error(span);
    }
    if (types.isUnit(tangent) || match.kind > UnifyKind::NeedsCheck) return operatorError(kind, a, b, span);
    toFloats(b);
    LocalId left = bind("left", a, nodes),
            right = bind("right", checked(b, tangent, match.checks, span), nodes);
    nodes.push_back(addTangent(kind, local(left, span), local(right, span), typeOf(a), tangent, span));
    return block(std::move(nodes), span);
  }
  auto isScalar = [&](NodeId n) { return types.kind(typeOf(n)) != TypeKind::Array && isNumber(typeOf(n)); };
  bool scales =
      (kind == BinaryKind::Mul && (isScalar(a) || isScalar(b))) || (kind == BinaryKind::Div && isScalar(b));
  NodeId tangent = isScalar(a) ? b : a, scalar = isScalar(a) ? a : b;
  auto hasLeaves =
      [&](TypeId type) { // parts without a tangent are kept; an enum is scaled as a tangent alone
        const TypeId own = types::tangentType(types, type);
        return own == type ||
               (own.valid() && !types.isUnit(own) && types.kind(types.element(type)) != TypeKind::Enum);
      };
  if (!scales || !composite(tangent) || !hasLeaves(infer.zonk(typeOf(tangent))))
    return operatorError(kind, a, b, span);
  toFloats(tangent);
  // Both operands are evaluated first, left to right; a literal needs no binding and stays open.
  LocalId t;
  if (isScalar(a) && !isLiteral(a)) {
    scalar = local(bind("s", scalar, nodes), span);
    t = bind("t", tangent, nodes);
  } else {
    t = bind("t", tangent, nodes);
    if (!isLiteral(scalar)) scalar = local(bind("s", scalar, nodes), span);
  }
  nodes.push_back(scaleTangent(kind, local(t, span), scalar, span));
  return block(std::move(nodes), span);
}

NodeBuilder::Opened NodeBuilder::open(NodeId packed, Span span) {
  Opened made;
  TypeId pack = typeOf(packed);
  std::vector<DimSym> fresh;
  for (uint32_t k = 0; k < types[pack].number; ++k) {
    fresh.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span}));
    made.sizes.push_back(types.dims.symbol(fresh.back()));
  }
  NodeId value = make(NodeKind::Unpack, types.openPack(pack, made.sizes), span, {packed});
  instance.nodes.edit(value).resultDims = fresh;
  made.value = local(bind("opened", value, made.nodes), span);
  return made;
}

/// Values that hide their sizes are equal if these are and the rest is.
NodeId NodeBuilder::equalSizesToo(NodeId a, NodeId b, Span span) {
  Opened left = open(a, span), right = open(b, span);
  std::vector<NodeId> nodes = std::move(left.nodes);
  nodes.insert(nodes.end(), right.nodes.begin(), right.nodes.end());
  NodeId same = boolean(true, span);
  for (size_t k = 0; k < left.sizes.size(); ++k) {
    NodeId equalSize =
        op(OpKind::Cmp, types.boolean(), {dimValue(left.sizes[k], span), dimValue(right.sizes[k], span)},
           span, static_cast<uint32_t>(ops::CmpKind::Eq));
    same = k == 0 ? equalSize : make(NodeKind::ShortAnd, types.boolean(), span, {same, equalSize});
  }
  NodeId other = make(NodeKind::CastDims, typeOf(left.value), span, {right.value}, DimChecks{});
  NodeId rest = equal(left.value, other, span);
  if (kindOf(rest) == TypeKind::Error) return rest;
  nodes.push_back(make(NodeKind::ShortAnd, types.boolean(), span, {same, rest}));
  return block(std::move(nodes), span);
}

/// `==` of two values of one type as one bool; arrays inside compare all their elements.
NodeId NodeBuilder::equal(NodeId a, NodeId b, Span span) {
  TypeId type = typeOf(a);
  UnifyResult match = infer.unify(type, typeOf(b));
  type = typeOf(a); // what was open may be solved now
  TypeKind k = types.kind(type);
  if (k == TypeKind::Error || kindOf(b) == TypeKind::Error) return error(span);
  if (match.kind == UnifyKind::DimsDiffer) {
    reportUnequal(match, a, b, span);
    return error(span);
  }
  if (match.kind > UnifyKind::NeedsCheck || k == TypeKind::Function || k == TypeKind::Known)
    return operatorError(BinaryKind::Eq, a, b, span);
  if (lacks(type, "Eq", "`==`", span)) return error(span);
  if (k == TypeKind::Var || types.isScalar(type) || k == TypeKind::Str || k == TypeKind::Param ||
      k == TypeKind::Slope)
    return op(OpKind::Cmp, types.boolean(), {a, b}, span, static_cast<uint32_t>(ops::CmpKind::Eq));
  if (types.isDict(type)) return library.callPrelude("dict_equal", {a, b}, span);
  if (NodeId own = library.callOwnEquality(a, b, span); own.valid()) return own;
  if (isBoxed(type)) return library.callEquality(a, b, span);
  if (k == TypeKind::Pack) return equalSizesToo(a, b, span);
  std::vector<NodeId> nodes;
  LocalId left = bind("left", a, nodes), right = bind("right", b, nodes);
  if (!match.checks.empty())
    nodes.push_back(
        dimChecks(withMessages(std::move(match.checks), DiagId::ShapeMismatch, type, typeOf(b)), span));
  if (k == TypeKind::Array) {
    nodes.push_back(reduce(ops::MonoidKind::And, dimsOf(type), span, [&](const std::vector<LocalId>& axes) {
      return equal(at(local(left, span), axes, span), at(local(right, span), axes, span), span);
    }));
    return block(std::move(nodes), span);
  }
  nodes.push_back(equalParts(local(left, span), local(right, span), span));
  return block(std::move(nodes), span);
}

NodeId NodeBuilder::equalParts(NodeId a, NodeId b, Span span) {
  NodeId all = boolean(true, span);
  for (uint32_t f = 0; f < partCount(types, typeOf(a)); ++f) {
    NodeId same = equal(field(a, f, span), field(b, f, span), span);
    if (kindOf(same) == TypeKind::Error) return same;
    all = f == 0 ? same : make(NodeKind::ShortAnd, types.boolean(), span, {all, same});
  }
  return all;
}

} // namespace melix::check
