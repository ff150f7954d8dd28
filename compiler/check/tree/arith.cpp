// Operators on numbers and arrays of numbers.
#include "check/tree/bool_hint.h"
#include "check/tree/broadcast.h"
#include "check/tree/build.h"

#include <optional>

namespace melix::check {

using ops::CmpKind;
using types::VarClass;

namespace {

std::optional<OpKind> simpleOp(BinaryKind kind, bool isFloat) {
  switch (kind) {
  case BinaryKind::Add: return OpKind::Add;
  case BinaryKind::Sub: return OpKind::Sub;
  case BinaryKind::Mul: return OpKind::Mul;
  case BinaryKind::Div: return isFloat ? OpKind::Div : OpKind::IDiv;
  case BinaryKind::Rem: return isFloat ? OpKind::Math : OpKind::IRem; // `MathKind::Rem`
  case BinaryKind::Shl: return isFloat ? std::nullopt : std::optional(OpKind::Shl);
  case BinaryKind::Shr: return isFloat ? std::nullopt : std::optional(OpKind::Shr);
  case BinaryKind::BitAnd: return isFloat ? std::nullopt : std::optional(OpKind::And);
  case BinaryKind::BitOr: return isFloat ? std::nullopt : std::optional(OpKind::Or);
  default: return std::nullopt;
  }
}

std::optional<CmpKind> comparison(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Eq: return CmpKind::Eq;
  case BinaryKind::Ne: return CmpKind::Ne;
  case BinaryKind::Lt: return CmpKind::Lt;
  case BinaryKind::Le: return CmpKind::Le;
  case BinaryKind::Gt: return CmpKind::Gt;
  case BinaryKind::Ge: return CmpKind::Ge;
  default: return std::nullopt;
  }
}

} // namespace

std::string_view binaryText(BinaryKind kind) {
  static constexpr std::string_view texts[] = {"+", "-", "*",  "/",  "%", "^",  "@", "<<", ">>",
                                               "&", "|", "==", "!=", "<", "<=", ">", ">="};
  return texts[static_cast<size_t>(kind)];
}

TypeId NodeBuilder::widerInt(TypeKind a, TypeKind b) {
  auto isSigned = [](TypeKind k) { return types::scalarClass(k) == types::ScalarClass::SInt; };
  unsigned bitsA = types::scalarBits(a), bitsB = types::scalarBits(b);
  if (isSigned(a) == isSigned(b)) return types.scalar(bitsA >= bitsB ? a : b);
  auto [s, u] = isSigned(a) ? std::pair(a, b) : std::pair(b, a);
  unsigned bitsS = types::scalarBits(s), bitsU = types::scalarBits(u);
  if (bitsU == 64) return TypeId::none();
  if (bitsS > bitsU) return types.scalar(s);
  return types.scalar(bitsU == 8 ? TypeKind::I16 : bitsU == 16 ? TypeKind::I32 : TypeKind::I64);
}

/// The element type at which two operands meet (rules 15 and 16); none after reporting why they do not.
TypeId NodeBuilder::commonElement(NodeId a, NodeId b, std::string_view what, Span span) {
  TypeId ea = infer.shallow(types.element(typeOf(a))), eb = infer.shallow(types.element(typeOf(b)));
  if (ea == eb) return lacks(ea, "Num", what, span) ? TypeId::none() : ea;
  if (types.isParam(ea) || types.isParam(eb)) return commonWithParam(a, b, what, span);
  bool openA = infer.isOpen(ea), openB = infer.isOpen(eb);
  if (openA && openB) {
    if (infer.varClass(ea) == infer.varClass(eb) || infer.varClass(ea) == VarClass::Any ||
        infer.varClass(eb) == VarClass::Any) {
      infer.unify(ea, eb);
      return infer.shallow(ea);
    }
    auto [whole, wholeNode, real] =
        infer.varClass(ea) == VarClass::OpenInt ? std::tuple(ea, a, eb) : std::tuple(eb, b, ea);
    if (isLiteral(wholeNode)) infer.unify(real, whole);
    return infer.shallow(real);
  }
  if (openA || openB) {
    auto [open, openNode, fixed] = openA ? std::tuple(ea, a, eb) : std::tuple(eb, b, ea);
    bool wholeVar = infer.varClass(open) == VarClass::OpenInt;
    if (types.isInt(fixed) && !wholeVar && infer.varClass(open) != VarClass::Any)
      return open; // a whole number meets an open float
    if (types.isFloat(fixed) && wholeVar && !isLiteral(openNode))
      return fixed; // an open int variable stays an int and is converted
    if (infer.unify(fixed, open).kind == UnifyKind::Equal) return fixed;
  } else if (types.isInt(ea) && types.isInt(eb)) {
    if (TypeId wide = widerInt(types.kind(ea), types.kind(eb))) return wide;
  } else if (types.isInt(ea) && types.isFloat(eb)) {
    return eb;
  } else if (types.isFloat(ea) && types.isInt(eb)) {
    return ea;
  }
  if (types.isFloat(ea) && types.isFloat(eb)) {
    const bool widensLeft = types::scalarBits(types.kind(ea)) < types::scalarBits(types.kind(eb));
    sink.report(DiagId::FloatWidthsMix, span, std::string(what), show(ea), show(eb)).hint =
        "convert one of them: `" + library.writtenOperand(spanOf(widensLeft ? a : b)) + " as " +
        show(widensLeft ? eb : ea) + "`";
  } else
    sink.report(DiagId::OperatorTypes, span, std::string(what), show(typeOf(a)), show(typeOf(b)));
  return TypeId::none();
}

/// A comparison of a u64 with a signed integer compares the numbers: a negative one is below all others.
NodeId NodeBuilder::compareWithU64(ops::CmpKind cmp, NodeId a, NodeId b, Span span) {
  std::vector<NodeId> nodes;
  NodeId left = local(bind("left", a, nodes), span), right = local(bind("right", b, nodes), span);
  bool leftSigned = kindOf(a) != TypeKind::U64;
  NodeId number = leftSigned ? left : right;
  TypeId u64 = types.scalar(TypeKind::U64);
  auto asU64 = [&](NodeId n) { return convert(n, u64, span, false, ops::ConvertMode::Wrap); };
  auto compare = [&](NodeId x, NodeId y, ops::CmpKind kind) {
    return op(OpKind::Cmp, types.boolean(), {x, y}, span, static_cast<uint32_t>(kind));
  };
  NodeId negative = compare(number, integer(0, span, typeOf(number)), ops::CmpKind::Lt);
  bool less = cmp == ops::CmpKind::Lt || cmp == ops::CmpKind::Le,
       more = cmp == ops::CmpKind::Gt || cmp == ops::CmpKind::Ge;
  bool whenNegative = cmp == ops::CmpKind::Ne || (leftSigned ? less : more);
  nodes.push_back(make(NodeKind::If, types.boolean(), span,
                       {negative, boolean(whenNegative, span), compare(asU64(left), asU64(right), cmp)}));
  return block(std::move(nodes), span);
}

NodeId NodeBuilder::elementwise(std::vector<NodeId> args, Span span,
                                FunctionRef<NodeId(std::vector<NodeId>)> body) {
  std::vector<std::vector<DimId>> shapes;
  bool anyArray = false;
  for (NodeId arg : args) {
    shapes.push_back(dimsOf(typeOf(arg)));
    anyArray |= !shapes.back().empty();
  }
  if (!anyArray) return body(args);
  BroadcastResult shape = broadcast(infer, types.dims, shapes);
  if (shape.kind == UnifyKind::DimsDiffer) {
    const AxisPair& at = shape.differ;
    Diagnostic& told =
        reportShapes(args[at.leftOperand], at.leftAxis, args[at.rightOperand], at.rightAxis, span);
    hintOperands(told, args[at.leftOperand], args[at.rightOperand]);
    return error(span);
  }
  // The sizes compared may come from the arguments: these are evaluated before.
  std::vector<NodeId> nodes;
  if (!shape.checks.empty()) {
    for (NodeId& arg : args)
      if (!isLiteral(arg)) arg = local(bind("a", arg, nodes), spanOf(arg));
    std::vector<DimCheckItem> checks;
    for (const AxisPair& at : shape.checks)
      checks.push_back(
          shapesFit(typeOf(args[at.leftOperand]), at.leftAxis, typeOf(args[at.rightOperand]), at.rightAxis));
    nodes.push_back(dimChecks(std::move(checks), span));
  }
  Elementwise payload;
  std::vector<NodeId> elements;
  for (NodeId arg : args) {
    LocalId element =
        newLocal("e" + std::to_string(elements.size()), types.element(typeOf(arg)), spanOf(arg));
    boundTo.add(element, arg);
    payload.elements.push_back(element);
    elements.push_back(local(element, spanOf(arg)));
  }
  NodeId result = body(elements);
  if (kindOf(result) == TypeKind::Error) return result;
  TypeId type = types.array(typeOf(result), shape.dims);
  std::vector<NodeId> children = std::move(args);
  children.push_back(result);
  nodes.push_back(make(NodeKind::Elementwise, type, span, std::move(children), std::move(payload)));
  return block(std::move(nodes), span);
}

NodeId NodeBuilder::mixedElementwise(std::vector<NodeId> args, Span span,
                                     FunctionRef<NodeId(std::vector<NodeId>, TypeId)> body) {
  TypeId element = types.element(typeOf(args[0]));
  for (size_t k = 1; k < args.size(); ++k) {
    // Later operands meet the type reached so far; an earlier pair decides for the ones after it.
    TypeId met = commonElement(args[k - 1], args[k], "this function", span);
    if (!met) return error(span);
    element = met;
  }
  for (NodeId arg : args) {
    if (kindOf(arg) == TypeKind::Error) return error(span);
  }
  if (lacks(element, "Num", "this function", span)) return error(span);
  if (!types.isScalar(infer.shallow(element)) && !infer.isOpen(element)) {
    if (args.size() == 1)
      sink.report(DiagId::OperandType, span, "this function", show(typeOf(args[0])));
    else
      sink.report(DiagId::OperatorTypes, span, "this function", show(typeOf(args[0])),
                  show(typeOf(args.back())));
    return error(span);
  }
  return elementwise(args, span, [&](std::vector<NodeId> elements) {
    for (NodeId& e : elements) e = convert(e, element, span);
    return body(std::move(elements), element);
  });
}

NodeId NodeBuilder::scalarBinary(BinaryKind kind, NodeId a, NodeId b, TypeId element, Span span) {
  NodeId left = convert(a, element, span), right = convert(b, element, span);
  if (auto cmp = comparison(kind))
    return op(OpKind::Cmp, types.boolean(), {left, right}, span, static_cast<uint32_t>(*cmp));
  TypeId shallow = infer.shallow(element);
  bool isFloat =
      types.isFloat(shallow) || (infer.isOpen(shallow) && infer.varClass(shallow) == VarClass::OpenFloat);
  // A quotient of open whole numbers is decided when they are settled: whole unless something makes them
  // floats.
  std::optional<OpKind> simple = simpleOp(kind, isFloat);
  if (!simpleOp(kind, true) && lacksFor(kind, shallow, span)) return error(span);
  if (!simple) return operatorError(kind, a, b, span);
  const bool isRemainder = *simple == OpKind::Math;
  return op(*simple, element, {left, right}, span,
            isRemainder ? static_cast<uint32_t>(ops::MathKind::Rem) : 0);
}

/// A char as the text of it alone.
NodeId NodeBuilder::asText(NodeId value) {
  if (kindOf(value) != TypeKind::Char) return value;
  return make(NodeKind::Builtin, types.str(), spanOf(value), {value},
              BuiltinRef{ops::BuiltinKind::StrFromChar});
}

NodeId NodeBuilder::binary(BinaryKind kind, NodeId a, NodeId b, Span span) {
  TypeId ta = typeOf(a), tb = typeOf(b);
  TypeKind ka = types.kind(ta), kb = types.kind(tb);
  if (types.holds(ta, TypeKind::Error) || types.holds(tb, TypeKind::Error)) return error(span);
  if (ka == TypeKind::Never || kb == TypeKind::Never) return block({a, b}, span);
  auto isText = [](TypeKind k) { return k == TypeKind::Str || k == TypeKind::Char; };
  if (kind == BinaryKind::Add && isText(ka) && isText(kb) && (ka == TypeKind::Str || kb == TypeKind::Str))
    return make(NodeKind::Builtin, types.str(), span, {asText(a), asText(b)},
                BuiltinRef{ops::BuiltinKind::StrConcat});
  if (kind == BinaryKind::MatMul) return matmul(a, b, span);
  TypeId ea = types.element(ta), eb = types.element(tb);
  if (isNumber(ea) && isNumber(eb)) {
    if (kind == BinaryKind::Pow) return power(a, b, span);
    if (kind == BinaryKind::Div && types.isInt(infer.shallow(ea)) && types.isInt(infer.shallow(eb)) &&
        (ka == TypeKind::Array || kb == TypeKind::Array)) {
      sink.report(DiagId::IntegerArrayDivision, span, show(ta), show(tb));
      return error(span);
    }
    TypeKind fixedA = types.kind(infer.shallow(ea)), fixedB = types.kind(infer.shallow(eb));
    bool arrays = kind == BinaryKind::Div && (ka == TypeKind::Array || kb == TypeKind::Array);
    auto isReal = [this](TypeId e) {
      return infer.isOpen(e) ? infer.varClass(e) == VarClass::OpenFloat : types.isFloat(infer.shallow(e));
    };
    if (arrays && !isReal(ea) && !isReal(eb) &&
        (lacks(ea, "Float", "`/` of arrays", span) || lacks(eb, "Float", "`/` of arrays", span)))
      return error(span);
    auto cmp = comparison(kind);
    if (cmp && (fixedA == TypeKind::Param || fixedB == TypeKind::Param))
      if (NodeId compared = compareParams(kind, a, b, span); compared.valid()) return compared;
    if (cmp && types::isIntKind(fixedA) && types::isIntKind(fixedB) && !widerInt(fixedA, fixedB))
      return elementwise({a, b}, span,
                         [&](std::vector<NodeId> e) { return compareWithU64(*cmp, e[0], e[1], span); });
    const bool shifts = kind == BinaryKind::Shl || kind == BinaryKind::Shr;
    if (shifts && types::isIntKind(fixedA) && types::isIntKind(fixedB)) // the count may be of any type
      return elementwise({a, b}, span, [&](std::vector<NodeId> e) {
        const TypeId shifted = infer.shallow(ea);
        const NodeId count = convert(e[1], shifted, span, false, ops::ConvertMode::Wrap);
        return op(*simpleOp(kind, false), shifted, {e[0], count}, span);
      });
    TypeId element = commonElement(a, b, "`" + std::string(binaryText(kind)) + "`", span);
    if (!element) return error(span);
    return elementwise({a, b}, span, [&](std::vector<NodeId> e) {
      NodeId result = scalarBinary(kind, e[0], e[1], element, span);
      if (arrays) arrayQuotients.push_back({result, ta, tb});
      return result;
    });
  }
  bool logical = types.kind(ea) == TypeKind::Bool && types.kind(eb) == TypeKind::Bool;
  bool bitwise = kind == BinaryKind::BitAnd || kind == BinaryKind::BitOr;
  bool equality = kind == BinaryKind::Eq || kind == BinaryKind::Ne;
  if (logical && (bitwise || equality))
    return elementwise({a, b}, span, [&](std::vector<NodeId> e) {
      return bitwise ? op(kind == BinaryKind::BitAnd ? OpKind::And : OpKind::Or, types.boolean(), e, span)
                     : scalarBinary(kind, e[0], e[1], types.boolean(), span);
    });
  if (logical && comparison(kind)) // false before true, as `sort` has it
    return elementwise({a, b}, span, [&](std::vector<NodeId> e) {
      TypeId number = types.scalar(TypeKind::U8);
      return scalarBinary(kind, convert(e[0], number, span), convert(e[1], number, span), number, span);
    });
  if (auto cmp = comparison(kind);
      cmp && types.kind(ea) == types.kind(eb) && types.kind(ea) == TypeKind::Char)
    return elementwise({a, b}, span,
                       [&](std::vector<NodeId> e) { return scalarBinary(kind, e[0], e[1], ea, span); });
  if (auto cmp = comparison(kind); cmp && ka == TypeKind::Str && kb == TypeKind::Str)
    return op(OpKind::Cmp, types.boolean(), {a, b}, span, static_cast<uint32_t>(*cmp));
  if (comparison(kind) && types.isParam(infer.shallow(ea)))
    if (NodeId compared = compareParams(kind, a, b, span); compared.valid()) return compared;
  const bool arrays = ka == TypeKind::Array || kb == TypeKind::Array;
  auto isWhole = [&](TypeKind k) { return k == TypeKind::List || k == TypeKind::Pack; };
  if (arrays && comparison(kind) && !isWhole(types.kind(ea)) && !isWhole(types.kind(eb)))
    return elementwise({a, b}, span, [&](std::vector<NodeId> e) { return binary(kind, e[0], e[1], span); });
  if (equality) {
    NodeId same = equal(a, b, span);
    return kind == BinaryKind::Eq || kindOf(same) == TypeKind::Error ? same : logicalNot(same, span);
  }
  return structural(kind, a, b, span);
}

NodeId NodeBuilder::negate(NodeId a, Span span) {
  TypeId type = typeOf(a);
  if (types.kind(type) == TypeKind::Error) return a;
  if (isNumber(types.element(type)))
    return elementwise({a}, span,
                       [&](std::vector<NodeId> e) { return op(OpKind::Neg, typeOf(e[0]), {e[0]}, span); });
  return structural(BinaryKind::Sub, NodeId::none(), a, span);
}

NodeId NodeBuilder::logicalNot(NodeId a, Span span) {
  TypeId type = typeOf(a);
  if (types.kind(type) == TypeKind::Error) return a;
  if (types.kind(types.element(type)) == TypeKind::Bool)
    return elementwise({a}, span,
                       [&](std::vector<NodeId> e) { return op(OpKind::Not, types.boolean(), e, span); });
  sink.report(DiagId::WantsBool, span, "`not`", show(type), boolHint(types, type));
  return error(span);
}

/// `x ^ k` with a whole literal k: by squaring, in the order square then multiply.
NodeId NodeBuilder::powerLiteral(NodeId a, int64_t k, Span span) {
  return elementwise({a}, span, [&](std::vector<NodeId> e) {
    TypeId type = typeOf(e[0]);
    if (k == 0) // 1 that depends on `x`, with slope 0
      return types.isParam(type) ? e[0] : library.callPrelude(powerFunction, {e[0], integer(0, span)}, span);
    std::vector<NodeId> lets;
    LocalId base = bind("x", e[0], lets);
    NodeId result = local(base, span);
    unsigned bit = 63u - static_cast<unsigned>(__builtin_clzll(static_cast<unsigned long long>(k)));
    while (bit-- > 0) {
      LocalId half = bind("p", result, lets);
      result = op(OpKind::Mul, type, {local(half, span), local(half, span)}, span);
      if ((k >> bit) & 1) result = op(OpKind::Mul, type, {result, local(base, span)}, span);
    }
    lets.push_back(result);
    return block(std::move(lets), span);
  });
}

NodeId NodeBuilder::power(NodeId a, NodeId b, Span span) {
  TypeId eb = infer.shallow(types.element(typeOf(b)));
  bool whole = types.isInt(eb) || (infer.isOpen(eb) && infer.varClass(eb) == VarClass::OpenInt);
  if (!whole) {
    TypeId element = commonElement(a, b, "`^`", span);
    if (!element) return error(span);
    return elementwise({a, b}, span, [&](std::vector<NodeId> e) {
      return op(OpKind::Math, element, {convert(e[0], element, span), convert(e[1], element, span)}, span,
                static_cast<uint32_t>(ops::MathKind::Pow));
    });
  }
  const Node& exponent = instance.nodes[b];
  if (exponent.kind == NodeKind::Const && exponent.as<Const>().text.size() < 4 && isLiteral(b)) {
    int64_t k = std::stoll(exponent.as<Const>().text);
    infer.unify(types.int64(), eb);
    return powerLiteral(a, k, span);
  }
  if (infer.isOpen(eb)) infer.unify(types.int64(), eb);
  return elementwise({a, b}, span, [&](std::vector<NodeId> e) {
    if (types.isParam(typeOf(e[0]))) return e[0];
    return library.callPrelude(powerFunction, {e[0], convert(e[1], types.int64(), span)}, span);
  });
}

NodeId NodeBuilder::summable(NodeId value, Span span) {
  TypeId type = infer.shallow(typeOf(value));
  TypeKind kind = types.kind(type);
  bool narrow = types::isIntKind(kind) && types::scalarBits(kind) < 64;
  return narrow || kind == TypeKind::Bool ? convert(value, types.int64(), span) : value;
}

NodeId NodeBuilder::matmul(NodeId a, NodeId b, Span span) {
  TypeId ta = typeOf(a), tb = typeOf(b);
  std::vector<DimId> da = dimsOf(ta), db = dimsOf(tb);
  if (da.empty() || db.empty() || db.size() > 2 || !isNumber(types.element(ta)) ||
      !isNumber(types.element(tb)))
    return operatorError(BinaryKind::MatMul, a, b, span);
  TypeId element = commonElement(a, b, "`@`", span);
  if (!element) return error(span);
  DimId inner = da.back();
  UnifyKind match = infer.unifyDim(inner, db[0]);
  if (match == UnifyKind::DimsDiffer) {
    hintProduct(reportShapes(a, da.size() - 1, b, 0, span), a, b);
    return error(span);
  }
  std::vector<NodeId> nodes;
  LocalId left = bind("left", a, nodes), right = bind("right", b, nodes);
  if (match == UnifyKind::NeedsCheck) nodes.push_back(dimChecks({shapesFit(ta, da.size() - 1, tb, 0)}, span));
  std::vector<DimId> outer(da.begin(), da.end() - 1);
  if (db.size() == 2) outer.push_back(db[1]);
  nodes.push_back(collect(outer, span, [&](const std::vector<LocalId>& axes) {
    return reduce(ops::MonoidKind::Sum, {inner}, span, [&](const std::vector<LocalId>& k) {
      std::vector<LocalId> ia(axes.begin(), axes.begin() + static_cast<ptrdiff_t>(da.size() - 1));
      ia.push_back(k[0]);
      std::vector<LocalId> ib{k[0]};
      if (db.size() == 2) ib.push_back(axes.back());
      NodeId x = summable(convert(at(local(left, span), ia, span), element, span), span);
      NodeId y = summable(convert(at(local(right, span), ib, span), element, span), span);
      return op(OpKind::Mul, typeOf(x), {x, y}, span);
    });
  }));
  return block(std::move(nodes), span);
}

} // namespace melix::check
