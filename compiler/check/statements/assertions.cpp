// `assert`: what it says of sizes, and what a failed one tells.
#include "check/body/body_values.h"
#include "check/body/statements.h"

namespace melix::check {

using namespace syntax;

namespace {

class Assertion {
public:
  explicit Assertion(Body& body) : body_(body), b_(body.b), ast_(body.ast) {}

  NodeId check(const syntax::Assert& a, Span span) {
    const SynId condition = withoutParens(a.condition);
    const auto [comparison, callee] = comparisonIn(condition);
    NodeId holds, made;
    if (!a.message && comparison)
      made = telling(comparison, callee, textOf(a.condition), span);
    else
      holds = body_.checkBoolean(condition, "`assert`");
    assumeEqual(condition);
    if (made.valid()) return made;
    return a.message ? withMessage(holds, a.message, span) : plain(holds, textOf(a.condition), span);
  }

private:
  /// The comparison that a condition consists of, and the name that is called with it alone if there is one:
  /// `all(a == b)`.
  std::pair<SynId, SynId> comparisonIn(SynId condition) const {
    if (isComparison(condition)) return {condition, SynId::none()};
    if (ast_.kind(condition) != SynKind::Call) return {};
    const auto& call = ast_[condition].as<Call>();
    if (call.args.size() != 1 || call.args[0].label || ast_.kind(call.callee) != SynKind::Name) return {};
    const SynId only = withoutParens(call.args[0].value);
    return isComparison(only) ? std::pair(only, call.callee) : std::pair<SynId, SynId>();
  }
  SynId withoutParens(SynId node) const {
    while (ast_.kind(node) == SynKind::Paren) node = ast_[node].as<One>().inner;
    return node;
  }
  bool isComparison(SynId node) const {
    if (ast_.kind(node) != SynKind::Binary) return false;
    const BinaryOp op = ast_[node].as<Binary>().op;
    return op >= BinaryOp::Eq && op <= BinaryOp::Ge;
  }
  std::string textOf(SynId node) const { return std::string(body_.c.modules.sources.text(ast_.span(node))); }

  /// `A == e` on a dimension variable A holds in what follows (rule 23).
  void assumeEqual(SynId condition) {
    condition = withoutParens(condition);
    if (ast_.kind(condition) != SynKind::Binary) return;
    const auto& both = ast_[condition].as<Binary>();
    if (both.op == BinaryOp::And) {
      assumeEqual(both.left);
      assumeEqual(both.right);
    }
    if (both.op != BinaryOp::Eq) return;
    const auto dims = body_.env->dims;
    for (auto [bare, other] : {std::pair(both.left, both.right), std::pair(both.right, both.left)})
      if (ast_.kind(bare) == SynKind::Name && dims.contains(ast_[bare].as<Name>().name))
        if (DimId equal = BodyValues(body_).sizeOf(other))
          return body_.infer.assume(dims.at(ast_[bare].as<Name>().name), equal);
  }

  NodeId plain(NodeId holds, std::string text, Span span) {
    return b_.make(NodeKind::Assert, b_.types.unit(), span, {holds}, Const{.text = std::move(text)});
  }

  /// `if holds {} else { panic(message) }`
  NodeId orPanic(NodeId holds, NodeId message, Span span) {
    NodeId panic = b_.make(NodeKind::Panic, b_.types.never(), span, {message});
    return b_.make(NodeKind::If, b_.types.unit(), span, {holds, b_.unit(span), panic});
  }

  /// The message is computed where the condition is false only.
  NodeId withMessage(NodeId holds, SynId message, Span span) {
    ++body_.conditions;
    const TypeId text = b_.types.str();
    NodeId told = body_.coerce(body_.checkExpr(message, text), text, ast_.span(message));
    --body_.conditions;
    return orPanic(holds, told, span);
  }

  /// `let left = a; let right = b; if left == right {} else { panic("…{left}…{right}") }`
  NodeId telling(SynId comparison, SynId callee, std::string text, Span span) {
    const auto& compared = ast_[comparison].as<Binary>();
    const Span at = ast_.span(comparison);
    auto [left, right] = body_.checkOperands(compared);
    std::vector<NodeId> nodes;
    const bool areTold = canBeTold(left) && canBeTold(right);
    if (areTold) {
      left = bound("left", left, nodes);
      right = bound("right", right, nodes);
    }
    NodeId holds = body_.combined(compared.op, left, right, at);
    if (callee) holds = called(callee, holds, span);
    holds = body_.boolean(holds, "`assert`", at);
    if (!areTold || b_.kindOf(holds) != TypeKind::Bool) return plain(holds, std::move(text), span);
    NodeId message = b_.make(NodeKind::Builtin, b_.types.str(), span,
                             {b_.string("assertion failed: " + text + label("left", left), span),
                              told(left, span), b_.string(label("right", right), span), told(right, span)},
                             BuiltinRef{ops::BuiltinKind::StrConcat});
    nodes.push_back(orPanic(holds, message, span));
    return b_.block(std::move(nodes), span);
  }

  NodeId called(SynId callee, NodeId argument, Span span) {
    WrittenCall call{
        {{NameId(), SynId::none(), argument, b_.spanOf(argument)}}, std::nullopt, TypeId::none(), span};
    return body_.callName(callee, call);
  }

  /// What stands before a value; the rows of a matrix stand below it, one a line.
  std::string label(std::string_view name, NodeId value) {
    constexpr size_t valueColumn = 6;
    const TypeId type = body_.infer.zonk(b_.typeOf(value));
    const bool hasRows = b_.types.kind(type) == TypeKind::Array && b_.types[type].dims.size() > 1;
    return "\n  " + std::string(name) + ":" + (hasRows ? "\n" : std::string(valueColumn - name.size(), ' '));
  }

  bool canBeTold(NodeId value) {
    const TypeId type = b_.typeOf(value);
    const TypeKind kind = b_.types.kind(type);
    return kind != TypeKind::Never && kind != TypeKind::Known && !b_.types.holds(type, TypeKind::Error) &&
           !b_.types.holds(type, TypeKind::Param) && !b_.types.holdsFunction(type);
  }

  /// An operand that is read twice; a literal stays one, which may have any type of number.
  NodeId bound(std::string_view name, NodeId operand, std::vector<NodeId>& nodes) {
    return b_.isLiteral(operand) ? operand : b_.local(b_.bind(name, operand, nodes), b_.spanOf(operand));
  }

  /// The text of an operand in the message: of a literal what is written.
  NodeId told(NodeId operand, Span span) {
    if (b_.isLiteral(operand))
      return b_.string(std::string(body_.c.modules.sources.text(b_.spanOf(operand))), span);
    const TypeKind kind = b_.kindOf(operand);
    const bool isText = kind == TypeKind::Str || kind == TypeKind::Char;
    return b_.make(NodeKind::Format, b_.types.str(), span, {operand}, FormatSpec{"", isText});
  }

  Body& body_;
  NodeBuilder& b_;
  const Ast& ast_;
};

} // namespace

NodeId checkAssert(Body& body, const syntax::Assert& assertion, Span span) {
  return Assertion(body).check(assertion, span);
}

} // namespace melix::check
