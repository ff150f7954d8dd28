// Statements: blocks, bindings, assignments.
#include "check/body/attempt.h"
#include "check/body/function_values.h"
#include "check/body/loops.h"
#include "check/body/statements.h"
#include "check/signatures/lookup.h"
#include "check/signatures/resolve.h"

#include <utility>

namespace melix::check {

using namespace syntax;

NodeId Body::checkBlockItems(const NodeList& items, TypeId expected, Span span) {
  const size_t mark = scope.size(), outerBegin = blockBegin.exchange(mark);
  const auto outerDims = env->dims;
  const types::DimSubst equalBefore = *infer.equalHere;
  std::vector<NodeId> nodes;
  bool valueLast = false;
  size_t reached = 0;
  for (size_t k = 0; k < items.size(); ++k) {
    bool last = k + 1 == items.size();
    NodeId node = checkStatement(items[k], last, last ? expected : TypeId::none());
    nodes.push_back(node);
    valueLast = last;
    if (reached == k && (last || reaches(*this, node, items[k + 1]))) ++reached;
  }
  // A block that is left before its end has any type, unless a value at its end says which.
  if (reached < nodes.size() && types.isUnit(b.typeOf(nodes.back()))) nodes.resize(reached + 1);
  if (valueLast && expected && infer.equalHere.size() > equalBefore.size())
    nodes.back() = coerce(nodes.back(), expected, b.spanOf(nodes.back()));
  if (*infer.equalHere != equalBefore) infer.equalHere.edit() = equalBefore;
  scope.leave(mark);
  blockBegin = outerBegin;
  if (env->dims != outerDims) env.edit().dims = outerDims;
  if (!valueLast) return b.unit(span);
  TypeId type = instance.nodes[nodes.back()].type;
  return b.make(NodeKind::Block, type, span, std::move(nodes));
}

bool reaches(Body& body, NodeId before, SynId statement) {
  const bool goesOn = body.types.kind(body.instance.nodes[before].type) != TypeKind::Never;
  const Span span = body.ast.span(statement);
  if (!goesOn && !body.isProvisional && !body.c.modules.isLibraryFile(span.file))
    body.sink.report(DiagId::Unreached, span);
  return goesOn;
}

/// Whether an expression statement may drop its value (rule 1): it does something besides giving a value.
bool Body::isUsedUp(NodeId value, SynId node) {
  TypeId type = b.typeOf(value);
  TypeKind k = types.kind(type);
  if (types.holds(type, TypeKind::Error) || k == TypeKind::Never || types.isUnit(type)) return true;
  const Node& n = instance.nodes[value];
  if (n.kind == NodeKind::Call) return !n.as<CallTarget>().inouts.empty();
  if (n.kind == NodeKind::Pop || n.kind == NodeKind::Debug || n.kind == NodeKind::BlackBox) return true;
  if (n.kind == NodeKind::Unpack || n.kind == NodeKind::Within || n.kind == NodeKind::On)
    return isUsedUp(n.children[0], node);
  if (n.kind == NodeKind::Block && !n.children.empty())
    return isUsedUp(n.children.back(), node) && !n.children.empty() &&
           instance.nodes[n.children.back()].kind != NodeKind::Local;
  return false;
}

NodeId Body::checkStatement(SynId node, bool last, TypeId expected) {
  const SynNode& n = ast[node];
  switch (n.kind) {
  case SynKind::Let: return checkLet(n.as<syntax::Let>(), n.span);
  case SynKind::Assign: return checkAssign(n.as<syntax::Assign>(), n.span);
  case SynKind::OpAssign: return checkOpAssign(n.as<OpAssign>(), n.span);
  case SynKind::For: return checkFor(*this, n.as<syntax::For>(), n.span);
  case SynKind::While: return checkWhile(*this, n.as<syntax::While>(), n.span);
  case SynKind::Assert: return checkAssert(*this, n.as<syntax::Assert>(), n.span);
  case SynKind::Fn: return checkNested(node);
  case SynKind::Const: return checkConst(n.as<ConstItem>(), n.span);
  case SynKind::Use: { // its names are not unknown too
    const auto& use = n.as<UseItem>();
    std::vector<NameId> names{use.alias ? use.alias : use.path.back().name};
    for (const UseName& part : use.names) names.push_back(part.name);
    for (NameId name : names) this->used.insert(declareLocal(name, types.error(), n.span, false));
    sink.report(DiagId::NoNestedDeclaration, n.span);
    return b.error(n.span);
  }
  case SynKind::Struct:
  case SynKind::Enum:
  case SynKind::Concept:
  case SynKind::Macro:
  case SynKind::TypeAlias: sink.report(DiagId::NoNestedDeclaration, n.span); return b.error(n.span);
  default: break;
  }
  NodeId value = checkExpr(node, last ? expected : TypeId::none());
  if (last) return value;
  return dropped(value, node);
}

/// The value of an expression that nobody wants; `if` and `match` may end in such only if these are ().
NodeId Body::dropped(NodeId value, SynId node) {
  Span span = ast.span(node);
  if (ast.kind(node) == SynKind::Block && !ast[node].as<Many>().items.empty())
    span = ast.span(ast[node].as<Many>().items.back());
  if (isPreludeEnum(b.typeOf(value), "Result")) {
    sink.report(DiagId::UnusedResult, span);
    return b.error(span);
  }
  if (!isUsedUp(value, node)) {
    Diagnostic& d = sink.report(DiagId::UnusedValue, span, b.show(b.typeOf(value)));
    if (c.modules.sources.text(span).starts_with("--")) d.hint = habitHint(HabitKind::Sign, "--");
    return b.error(span);
  }
  return value;
}

/// A `const` in a block: a `let`, and where it is a whole number also a dimension.
NodeId Body::checkConst(const ConstItem& item, Span span) {
  TypeId asked = item.type ? resolveType(item.type, false) : TypeId::none();
  NodeId value = checkExpr(item.value, asked);
  if (asked) value = coerce(value, asked, b.spanOf(value));
  LocalId local = declareLocal(item.name, b.typeOf(value), item.nameSpan, false);
  if (DimId d = b.dimOf(value)) env.edit().dims[item.name] = d;
  return b.make(NodeKind::Let, types.unit(), span, {value},
                PatternRef{b.bindPattern(local, b.typeOf(value), item.nameSpan)});
}

/// The sizes of a type that were to be found in a value that is erroneous are not asked for again.
void Body::makeSizesUnknown(TypeId asked, Span span) {
  std::vector<DimSym> symbols;
  types.collectSymbols(infer.zonk(asked), symbols);
  for (DimSym s : symbols) {
    const types::DimSymInfo& info = types.dims.info(s);
    if (info.kind != types::DimSymKind::Inference) continue;
    const DimSym unknown = types.dims.newSym({info.name, types::DimSymKind::Unknown, 0, span});
    infer.unifyDim(types.dims.symbol(s), types.dims.symbol(unknown));
  }
}

/// Whether a value is opened whose sizes were hidden where it is made.
static bool hidesSizes(const Instance& instance, NodeId value) {
  const Node& n = instance.nodes[value];
  return n.kind == NodeKind::Unpack && instance.nodes[n.children[0]].kind == NodeKind::Pack;
}

NodeId Body::checkLet(const syntax::Let& let, Span span) {
  TypeId asked;
  bool simpleName = ast.kind(let.pattern) == SynKind::Name;
  const bool names = let.type && namesSizes(*ast.at, let.type);
  const auto known = names ? env->dims : decltype(TypeEnv::dims)();
  if (let.type) asked = resolveType(let.type, true, let.isVar && simpleName);
  decltype(TypeEnv::dims) named; // means something once the value is there
  if (names) named = std::exchange(env.edit().dims, known);
  bool changes = asked && let.isVar && types.kind(asked) == TypeKind::Pack; // declared with `_`
  if (asked) infer.letDiffer(asked);
  NodeId init = checkExpr(let.init, asked);
  if (let.isVar && simpleName && !asked && hidesSizes(instance, init)) { // as `growing` makes it
    init = instance.nodes[init].children[0];
    changes = true;
  }
  if (asked) init = coerce(init, asked, b.spanOf(init));
  std::erase_if(named, [&](const auto& size) {
    auto old = known.find(size.first);
    return old != known.end() && old->second == size.second;
  });
  if (asked && b.kindOf(init) == TypeKind::Error) makeSizesUnknown(asked, span);
  if (let.isVar) init = withFunctionTypes(*this, init);
  // `?N` names are what the value's sizes turned out to be.
  for (auto [name, dim] : named) env.edit().dims[name] = infer.zonk(dim);
  TypeId type = asked ? infer.zonk(asked) : b.typeOf(init);
  if (types.kind(type) == TypeKind::Never) return letNever(let, init, span);
  // `let n = N - 360`: a dimension expression is replaced by what it says (rule 23).
  bool refutable = false;
  NodeId otherwise;
  if (let.otherwise) {
    otherwise = checkExpr(let.otherwise);
    if (b.kindOf(otherwise) != TypeKind::Never && b.kindOf(otherwise) != TypeKind::Error)
      sink.report(DiagId::ElseStays, ast.span(let.otherwise), b.show(b.typeOf(otherwise)));
  }
  PatternId pattern =
      !changes
          ? checkPattern(let.pattern, type, let.isVar, refutable)
          : b.bindPattern(declareLocal(ast[let.pattern].as<Name>().name, type, ast.span(let.pattern), true),
                          type, ast.span(let.pattern));
  if (!let.isVar) b.noteBound(pattern, init);
  if (refutable && !let.otherwise) sink.report(DiagId::Refutable, ast.span(let.pattern));
  if (simpleName && !let.isVar) {
    TypeId shallow = infer.shallow(type);
    std::vector<NodeId> before;
    if (types.kind(shallow) == TypeKind::I64)
      if (DimId d = b.dimOf(b.endOf(init, before)); d && instance.nodes[init].kind != NodeKind::Const)
        env.edit().dims[ast[let.pattern].as<Name>().name] = d;
  }
  std::vector<NodeId> children{init};
  if (otherwise.valid()) children.push_back(otherwise);
  return b.make(NodeKind::Let, types.unit(), span, std::move(children), PatternRef{pattern});
}

/// The names of a `let` whose value never comes are as unreached as it is.
NodeId Body::letNever(const syntax::Let& let, NodeId init, Span span) {
  std::vector<NodeId> nodes;
  const LocalId never = b.bind("never", init, nodes);
  const size_t mark = scope.size();
  bindAll(let.pattern, types.never(), let.isVar);
  for (size_t k = mark; k < scope.size(); ++k) nodes.push_back(b.let(scope[k].local, b.local(never, span)));
  nodes.push_back(b.local(never, span));
  return b.block(std::move(nodes), span);
}

NodeId Body::checkAssign(const syntax::Assign& a, Span span) {
  const SynNode& target = ast[a.target];
  if (target.kind == SynKind::Underscore) {
    NodeId value = checkExpr(a.value);
    return b.make(NodeKind::Let, types.unit(), span, {value},
                  PatternRef{anyPattern(b.typeOf(value), target.span)});
  }
  if (target.kind == SynKind::Tuple) return assignParts(target.as<Many>().items, a.value, span);
  Target to;
  if (!checkTarget(a.target, to)) return b.error(span);
  if (to.gathers.any()) return assignGathered(std::move(to), nullptr, a.value, span);
  TypeId wanted = to.place.type;
  NodeId value = checkExpr(a.value, wanted);
  // A scalar fills the place.
  TypeId type = b.typeOf(value);
  if (types.kind(type) == TypeKind::Never) { // the indices come first
    std::vector<NodeId> nodes = std::move(to.before);
    Gathers none;
    pinSteps(to.place.steps, none, nodes);
    nodes.push_back(value);
    return b.block(std::move(nodes), span);
  }
  if (types.kind(infer.shallow(wanted)) == TypeKind::Array && types.kind(type) != TypeKind::Array &&
      types.kind(type) != TypeKind::Error) {
    std::vector<NodeId> nodes;
    NodeId scalar = b.local(b.bind("v", coerce(value, types.element(wanted), span), nodes), span);
    nodes.push_back(
        b.collect(b.dimsOf(infer.zonk(wanted)), span, [&](const std::vector<LocalId>&) { return scalar; }));
    value = b.block(std::move(nodes), span);
  }
  return assignTo(std::move(to), nullptr, coerce(value, wanted, ast.span(a.value)), span);
}

/// `(a, b) = e`: the places are found first, then the value, then each takes its part.
NodeId Body::assignParts(const NodeList& parts, SynId written, Span span) {
  std::vector<Target> targets(parts.size());
  std::vector<TypeId> wanted;
  std::vector<NodeId> nodes;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (!checkTarget(parts[k], targets[k])) return b.error(span);
    if (targets[k].gathers.any()) {
      sink.report(DiagId::NotOnePlace, ast.span(parts[k]));
      return b.error(span);
    }
    nodes.insert(nodes.end(), targets[k].before.begin(), targets[k].before.end());
    targets[k].before.clear();
    Gathers none;
    pinSteps(targets[k].place.steps, none, nodes);
    wanted.push_back(targets[k].place.type);
  }
  TypeId tuple = types.tuple(wanted);
  NodeId value = coerce(checkExpr(written, tuple), tuple, span);
  if (b.kindOf(value) == TypeKind::Error) return b.error(span);
  if (b.kindOf(value) == TypeKind::Never) {
    nodes.push_back(value);
    return b.block(std::move(nodes), span);
  }
  NodeId all = b.local(b.bind("values", value, nodes), span);
  for (uint32_t k = 0; k < parts.size(); ++k)
    nodes.push_back(assignTo(std::move(targets[k]), nullptr, b.field(all, k, span), span));
  return b.block(std::move(nodes), span);
}

/// `place op= e` by a function `op=` of the user's; none if none takes these types.
NodeId Body::ownOpAssign(const OpAssign& a, Span span) {
  const NameId name = types.names.intern(std::string(spelling(a.op)) + "=");
  if (!lookupAny(name) && functionLayers(c, module, name).empty() && !isDeclaredBeside(name, {}))
    return NodeId::none();
  Attempt attempt(*this);
  NodeId place = checkExpr(a.target), value = checkExpr(a.value);
  if (b.kindOf(place) != TypeKind::Error && b.kindOf(value) != TypeKind::Error)
    if (NodeId made = declaredOperator(name,
                                       {{NameId::none(), a.target, place, ast.span(a.target)},
                                        {NameId::none(), SynId::none(), value, ast.span(a.value)}},
                                       span)) {
      attempt.keep();
      return made;
    }
  return NodeId::none();
}

NodeId Body::checkOpAssign(const OpAssign& a, Span span) {
  if (NodeId user = ownOpAssign(a, span)) return user;
  Target target;
  if (!checkTarget(a.target, target)) return b.error(span);
  if (target.gathers.any()) return assignGathered(std::move(target), &a.op, a.value, span);
  NodeId value = checkExpr(a.value);
  return b.kindOf(value) == TypeKind::Error ? value : assignTo(std::move(target), &a.op, value, span);
}

} // namespace melix::check
