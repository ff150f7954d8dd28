#include "expand/value.h"

namespace melix::expand {

std::string_view kindName(Kind kind) {
  static constexpr std::string_view texts[] = {
#define KIND(Kind, What) #Kind,
#include "expand/kinds.def"
  };
  return texts[static_cast<size_t>(kind)];
}

std::string_view kindText(Kind kind) {
  static constexpr std::string_view texts[] = {
#define KIND(Kind, What) What,
#include "expand/kinds.def"
  };
  return texts[static_cast<size_t>(kind)];
}

std::optional<Kind> kindNamed(std::string_view name) {
#define KIND(Each, What)                                                                                     \
  if (name == #Each) return Kind::Each;
#include "expand/kinds.def"
  return std::nullopt;
}

NodeId withoutParens(const Ast& ast, NodeId node) {
  while (node && ast.kind(node) == NodeKind::Paren) node = ast[node].as<One>().inner;
  return node;
}

static bool isStatement(NodeKind kind) {
  switch (kind) {
  case NodeKind::For:
  case NodeKind::While:
  case NodeKind::Let:
  case NodeKind::Assign:
  case NodeKind::OpAssign:
  case NodeKind::Assert:
  case NodeKind::Sample: return true;
  default: return false;
  }
}

Value valueOf(const Ast& ast, NodeId node, Role role) {
  NodeKind kind = ast.kind(node);
  if (kind == NodeKind::MacroUse) { // stands for what it is used on
    NodeId target = node;
    while (target && ast.kind(target) == NodeKind::MacroUse) target = ast[target].as<MacroUse>().target;
    if (target && isItem(ast.kind(target))) return {Kind::Item, node};
  }
  if (kind == NodeKind::Name && role != Role::Body) return {Kind::Ident, node};
  if (isItem(kind)) return {Kind::Item, node};
  if (isStatement(kind)) return {Kind::Stmt, node};
  switch (role) {
  case Role::Type: return {Kind::Type, node};
  case Role::Pattern: return {Kind::Pattern, node};
  case Role::Body: return {kind == NodeKind::Block ? Kind::Block : Kind::Expr, node};
  default: break;
  }
  if (kind == NodeKind::CasePattern || kind == NodeKind::OrPattern || kind == NodeKind::RefPattern)
    return {Kind::Pattern, node};
  if (kind == NodeKind::FunctionType) return {Kind::Type, node};
  return {Kind::Expr, node};
}

namespace {

NodeId block(Ast& ast, NodeId statement) {
  return ast.add(NodeKind::Block, ast.span(statement), Many{{statement}});
}

/// A call, a name, a literal or a tuple of such as a pattern; none if it is none.
NodeId asPattern(Ast& ast, NodeId node) {
  const Node& n = ast[node];
  switch (n.kind) {
  case NodeKind::Name:
  case NodeKind::Underscore:
  case NodeKind::IntLit:
  case NodeKind::FloatLit:
  case NodeKind::CharLit:
  case NodeKind::BoolLit:
  case NodeKind::String:
  case NodeKind::MacroUse: return node;
  case NodeKind::Paren: return asPattern(ast, n.as<One>().inner);
  case NodeKind::Unary: {
    const NodeKind operand = ast.kind(n.as<Unary>().operand);
    const bool isNumber = operand == NodeKind::IntLit || operand == NodeKind::FloatLit;
    return n.as<Unary>().op == UnaryOp::Neg && isNumber ? node : NodeId::none();
  }
  case NodeKind::Member: return ast.add(NodeKind::CasePattern, n.span, CasePattern{node, {}, false});
  case NodeKind::Tuple: {
    Many parts = n.as<Many>();
    for (NodeId& part : parts.items)
      if (part = asPattern(ast, part); !part) return part;
    return ast.add(NodeKind::Tuple, n.span, std::move(parts));
  }
  case NodeKind::Call: {
    CasePattern pattern{n.as<Call>().callee, {}, true};
    for (const Argument& arg : n.as<Call>().args) {
      NodeId part = asPattern(ast, arg.value);
      if (!part) return part;
      pattern.fields.push_back({arg.label, part, ast.span(arg.value)});
    }
    return ast.add(NodeKind::CasePattern, ast.span(node), std::move(pattern));
  }
  default: return NodeId::none();
  }
}

bool isTypeLike(const Ast& ast, NodeId node) {
  const Node& n = ast[node];
  switch (n.kind) {
  case NodeKind::Name:
  case NodeKind::Underscore:
  case NodeKind::FunctionType:
  case NodeKind::MacroUse: return true;
  case NodeKind::Paren: return isTypeLike(ast, n.as<One>().inner);
  case NodeKind::Member: return isTypeLike(ast, n.as<Member>().base);
  case NodeKind::Brackets: return isTypeLike(ast, n.as<Brackets>().base);
  case NodeKind::Tuple:
    for (NodeId part : n.as<Many>().items)
      if (!isTypeLike(ast, part)) return false;
    return true;
  default: return false;
  }
}

std::optional<Value> asBlock(Ast& ast, Value v) {
  const bool fits =
      v.kind == Kind::Expr || v.kind == Kind::Ident || v.kind == Kind::Stmt || v.kind == Kind::Item;
  if (!fits) return std::nullopt;
  return Value{Kind::Block, block(ast, v.node)};
}

/// The name of a type parameter.
Value nameOf(Ast& ast, Value generic) {
  const NameId name = ast[generic.node].as<TypeItem>().generics[0].name;
  return {Kind::Ident, ast.add(NodeKind::Name, ast.span(generic.node), Name{name})};
}

} // namespace

std::optional<Value> converted(Ast& ast, Value v, Kind wanted) {
  if (v.kind == wanted) return v;
  if (v.kind == Kind::Generic) v = nameOf(ast, v);
  const bool isExpr = v.kind == Kind::Expr || v.kind == Kind::Ident;
  auto named = [&](auto part) {
    part.name = ast[v.node].as<Name>().name;
    part.span = ast.span(v.node);
    return held(ast, std::move(part));
  };
  switch (wanted) {
  case Kind::Expr:
    if (isExpr) return v; // a name stays one
    break;
  case Kind::Stmt:
    if (isExpr || v.kind == Kind::Item) return Value{wanted, v.node};
    if (v.kind == Kind::Block && ast[v.node].as<Many>().items.size() == 1)
      return Value{wanted, ast[v.node].as<Many>().items[0]};
    break;
  case Kind::Block: return asBlock(ast, v);
  case Kind::Item:
    if (v.kind == Kind::Block && ast[v.node].as<Many>().items.size() == 1 &&
        valueOf(ast, ast[v.node].as<Many>().items[0], Role::Stmt).kind == Kind::Item)
      return Value{wanted, ast[v.node].as<Many>().items[0]};
    if (v.kind == Kind::Expr && ast.kind(v.node) == NodeKind::MacroUse) return Value{wanted, v.node};
    break;
  case Kind::Type:
    if (isExpr && isTypeLike(ast, v.node)) return Value{wanted, v.node};
    break;
  case Kind::Pattern:
    if (isExpr)
      if (NodeId pattern = asPattern(ast, v.node)) return Value{wanted, pattern};
    break;
  case Kind::Param: {
    Parameter p;
    p.span = ast.span(v.node);
    if (v.kind == Kind::Ident)
      p.name = ast[v.node].as<Name>().name;
    else if (v.kind == Kind::Pattern)
      p.pattern = v.node;
    if (p.name || p.pattern) return held(ast, p);
    break;
  }
  case Kind::Header:
    if (v.kind == Kind::Ident || v.kind == Kind::Pattern) {
      Header h;
      h.pattern = v.node;
      h.span = ast.span(v.node);
      return held(ast, h);
    }
    break;
  case Kind::Case:
    if (v.kind == Kind::Ident) return named(CaseDecl{});
    break;
  case Kind::Ident:
    if (v.kind == Kind::Expr && ast.kind(v.node) == NodeKind::Name) return Value{wanted, v.node};
    break;
  case Kind::Generic:
    if (v.kind == Kind::Ident) return named(Generic{});
    break;
  case Kind::Field:
  case Kind::Argument:
  case Kind::Arm: break;
  }
  return std::nullopt;
}

NodeId nodeFor(Ast& ast, Value v, Role role) {
  auto as = [&](Kind kind) {
    std::optional<Value> value = converted(ast, v, kind);
    return value ? value->node : NodeId::none();
  };
  switch (role) {
  case Role::Expr: return v.kind == Kind::Block ? v.node : as(Kind::Expr);
  case Role::Stmt: return v.kind == Kind::Block ? v.node : as(Kind::Stmt);
  case Role::Body:
    if (v.kind == Kind::Expr && (ast.kind(v.node) == NodeKind::Block || ast.kind(v.node) == NodeKind::If))
      return v.node;
    return as(Kind::Block);
  case Role::Item: return as(Kind::Item);
  case Role::Type: return as(Kind::Type);
  case Role::Pattern: return as(Kind::Pattern);
  case Role::Any: return v.kind == Kind::Generic ? nameOf(ast, v).node : v.node;
  }
  return NodeId::none();
}

std::optional<NodeList> statementsOf(Ast& ast, Value v) {
  if (v.kind == Kind::Block) return ast[v.node].as<Many>().items;
  if (NodeId one = nodeFor(ast, v, Role::Stmt)) return NodeList{one};
  return std::nullopt;
}

/// A node that has of its parts one in a list.
template <class Holder, class Part>
static Value holding(Ast& ast, Kind kind, NodeKind node, Span span, std::vector<Part> Holder::* list,
                     Part part) {
  Holder holder{};
  (holder.*list).push_back(std::move(part));
  return {kind, ast.add(node, span, std::move(holder))};
}

Value held(Ast& ast, Parameter part) {
  return holding(ast, Kind::Param, NodeKind::Lambda, part.span, &Lambda::params, part);
}
Value held(Ast& ast, FieldDecl part) {
  return holding(ast, Kind::Field, NodeKind::Struct, part.span, &StructItem::fields, part);
}
Value held(Ast& ast, CaseDecl part) {
  return holding(ast, Kind::Case, NodeKind::Enum, part.span, &EnumItem::cases, std::move(part));
}
Value held(Ast& ast, Header part) {
  return holding(ast, Kind::Header, NodeKind::Builder, part.span, &Builder::headers, part);
}
Value held(Ast& ast, MatchArm part) {
  return holding(ast, Kind::Arm, NodeKind::Match, part.span, &Match::arms, part);
}
Value held(Ast& ast, Argument part) {
  return holding(ast, Kind::Argument, NodeKind::Call, ast.span(part.value), &Call::args, part);
}
Value held(Ast& ast, Generic part) {
  return holding(ast, Kind::Generic, NodeKind::TypeAlias, part.span, &TypeItem::generics, part);
}

uint64_t sizeOf(const Ast& ast, NodeId node, uint64_t most) {
  uint64_t size = 0;
  std::vector<NodeId> open{node};
  while (!open.empty() && size < most) {
    ++size;
    NodeId next = open.back();
    open.pop_back();
    forEachChild(ast, next, [&](NodeId child) { open.push_back(child); });
  }
  return size;
}

Value literal(Ast& ast, NodeKind kind, std::string text, Span span) {
  const bool isNegative = kind != NodeKind::CharLit && text.starts_with("-");
  if (!isNegative) return {Kind::Expr, ast.add(kind, span, Text{std::move(text)})};
  NodeId number = ast.add(kind, span, Text{text.substr(1)});
  NodeId negative = ast.add(NodeKind::Unary, span, Unary{UnaryOp::Neg, number});
  return {Kind::Expr, ast.add(NodeKind::Paren, span, One{negative})};
}

} // namespace melix::expand
