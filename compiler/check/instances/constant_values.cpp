// The value of a constant where it is named. Its literals are open there (rule 15), so its expression is
// checked at each use; one that is made of other constants is the call of an instance instead, or the number
// it is, so that a chain of them costs no more than its parts.
#include "check/body/other_tree.h"
#include "check/instances/instances.h"
#include "check/signatures/constants.h"
#include "check/signatures/declaration_table.h"

namespace melix::check {

using namespace syntax;

NodeId Body::constantValue(DeclId constant, TypeId expected, Span span) {
  InstanceKey itself;
  itself.decl = constant;
  const InstanceId own = c.instances.instantiate(itself, span);
  if (c.declarations.aliases.open.contains(constant) || c.instances.info(own).inProgress) {
    sink.report(DiagId::ConstValue, span, types.names.text(c.modules.decl(constant).name)).hint =
        "it needs its own value";
    return b.error(span);
  }
  if (c.program_.instance(own).failed) { // told where it stands
    c.constants.repeatConstant(constant);
    return b.error(span);
  }
  const TypeId made = c.program_.instance(own).result;
  const ConstantShape shape = c.constants.constantShape(constant);
  bool whole = types.kind(made) == TypeKind::I64;
  bool isTemplate = types.kind(made) == TypeKind::Known || types.holdsFunction(made);
  // A quotient of whole numbers is another one if they become floats.
  if (!shape.namesOthers || isTemplate || (whole && shape.divides))
    return constantExpression(constant, expected, span);
  PendingCall call;
  call.decl = constant;
  if (!whole) return finishInferred(std::move(call), constantCall(span), span);
  return wholeConstant(constant, span);
}

NodeId Body::constantCall(Span span) { return b.make(NodeKind::Call, types.error(), span, {}, CallTarget()); }

/// A whole number made of others: the number it is, open if they are.
NodeId Body::wholeConstant(DeclId constant, Span span) {
  const auto number = c.constants.constantNumber(constant);
  PendingCall call;
  call.decl = constant;
  if (!number || *number == INT64_MIN) return finishInferred(std::move(call), constantCall(span), span);
  if (checkCallee(call, span).here.empty()) return b.integer(*number, span);
  TypeId open = infer.freshVar(types::VarClass::OpenInt, span);
  NodeId literal = b.number(std::to_string(std::abs(*number)), open, span);
  return *number < 0 ? b.negate(literal, span) : literal;
}

/// The expression of a constant, checked where it is used.
NodeId Body::constantExpression(DeclId constant, TypeId expected, Span span) {
  const auto& item = c.ast(constant)[c.modules.decl(constant).node].as<ConstItem>();
  c.declarations.aliases.open.insert(constant);
  Elsewhere home(*this, c.ast(constant), c.modules.decl(constant).module, {}, scope.size());
  TypeId asked = item.type ? resolveType(item.type, false) : expected;
  NodeId value = checkExpr(item.value, asked);
  if (item.type) value = coerce(value, asked, span);
  c.declarations.aliases.open.erase(constant);
  if (b.kindOf(value) != TypeKind::I64 || b.dimOf(value)) return value;
  const auto number = c.constants.constantNumber(constant); // run when compiling: the same size everywhere
  return number ? b.integer(*number, span) : value;
}

} // namespace melix::check
