// Operators on type parameters: what their bounds offer, and how they mix with other numbers (rules 12, 16).
// Nodes made of them are looked at for their types only.
#include "check/signatures/bounds.h"
#include "check/tree/build.h"

#include <algorithm>

namespace melix::check {

using types::ParamClass;
using types::VarClass;

namespace {

/// The bound that offers an operator.
std::string_view boundFor(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Rem:
  case BinaryKind::Shl:
  case BinaryKind::Shr:
  case BinaryKind::BitAnd:
  case BinaryKind::BitOr: return "Int";
  case BinaryKind::Eq:
  case BinaryKind::Ne: return "Eq";
  case BinaryKind::Lt:
  case BinaryKind::Le:
  case BinaryKind::Gt:
  case BinaryKind::Ge: return "Ord";
  default: return "Num";
  }
}

} // namespace

bool NodeBuilder::lacks(TypeId type, std::string_view bound, std::string_view what, Span span) {
  TypeId param = infer.shallow(types.element(infer.zonk(type)));
  if (!types.isParam(param) || meetsBound(types, param, bound)) return false;
  sink.report(DiagId::BoundNeeded, span, what, types.show(param), bound);
  return true;
}

bool NodeBuilder::lacksInside(TypeId type, std::string_view bound, std::string_view what, Span span) {
  const std::vector<TypeId> params = paramsInside(types, infer.zonk(type));
  return std::any_of(params.begin(), params.end(),
                     [&](TypeId param) { return lacks(param, bound, what, span); });
}

bool NodeBuilder::lacksFor(BinaryKind kind, TypeId type, Span span) {
  return lacks(type, boundFor(kind), "`" + std::string(binaryText(kind)) + "`", span);
}

/// The element type at which a type parameter and another element type meet; none after reporting why they
/// do not. What the parameter stands for must not matter: beside an `int`, only that a Float stays what it
/// is.
TypeId NodeBuilder::commonWithParam(NodeId a, NodeId b, std::string_view what, Span span) {
  TypeId left = infer.shallow(types.element(typeOf(a))), right = infer.shallow(types.element(typeOf(b)));
  if (lacks(left, "Num", what, span) || lacks(right, "Num", what, span)) return TypeId::none();
  auto [param, other, otherNode] =
      types.isParam(left) ? std::tuple(left, right, b) : std::tuple(right, left, a);
  if (infer.isOpen(other)) {
    if (infer.varClass(other) == VarClass::OpenFloat) {
      if (types.isInt(param)) return other; // a whole number meets an open float
      if (lacks(param, "Float", std::string(what) + " with a float", span)) return TypeId::none();
    } else if (infer.varClass(other) == VarClass::OpenInt && !types.isInt(param) && !isLiteral(otherNode)) {
      return param; // an open int variable stays an int and is converted
    }
    infer.unify(param, other);
    return param;
  }
  if (types.isFloat(param) && types.isInt(other)) return param;
  if (types.isInt(param) && types.isFloat(other)) return other;
  Diagnostic& d =
      sink.report(DiagId::OperatorTypes, span, std::string(what), show(typeOf(a)), show(typeOf(b)));
  if (types.isNumber(other))
    d.hint = "which type they meet in depends on `" + types.show(param) + "`: convert one, for example `" +
             library.writtenOperand(spanOf(otherNode)) + " as " + types.show(param) + "`";
  return TypeId::none();
}

/// Comparisons of type parameters; none if these are no numbers that meet.
NodeId NodeBuilder::compareParams(BinaryKind kind, NodeId a, NodeId b, Span span) {
  TypeId left = infer.shallow(types.element(typeOf(a))), right = infer.shallow(types.element(typeOf(b)));
  bool same = left == right && types.isParam(left) && meetsBound(types, left, boundFor(kind));
  bool integers = types.isNumber(left) && types.isNumber(right) && (types.isInt(left) || types.isInt(right));
  if (!same && !integers) return NodeId::none();
  return elementwise({a, b}, span,
                     [&](std::vector<NodeId> e) { return op(OpKind::Cmp, types.boolean(), e, span); });
}

} // namespace melix::check
