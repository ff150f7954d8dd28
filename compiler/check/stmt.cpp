// Statements, branches and loops.
#include "check/body.h"

namespace melix::check {

using namespace syntax;

NodeId Body::checkBlockItems(const NodeList& items, TypeId expected, Span span) {
  size_t mark = scope.size(), outerBegin = std::exchange(blockBegin, mark);
  TypeEnv outer = env;
  const types::DimSubst equalBefore = infer.equalHere;
  std::vector<NodeId> nodes;
  bool valueLast = false;
  for (size_t k = 0; k < items.size(); ++k) {
    bool last = k + 1 == items.size();
    NodeId node = checkStatement(items[k], last, last ? expected : TypeId::none());
    nodes.push_back(node);
    valueLast = last;
  }
  if (valueLast && expected && infer.equalHere.size() > equalBefore.size())
    nodes.back() = coerce(nodes.back(), expected, b.spanOf(nodes.back()));
  infer.equalHere = equalBefore;
  scope.resize(mark);
  blockBegin = outerBegin;
  env.dims = outer.dims;
  if (!valueLast) return b.unit(span);
  TypeId type = instance.nodes[nodes.back()].type;
  return b.make(NodeKind::Block, type, span, std::move(nodes));
}

/// Whether an expression statement may drop its value (rule 1): it does something besides giving a value.
bool Body::isUsedUp(NodeId value, SynId node) {
  TypeId type = b.typeOf(value);
  TypeKind k = types.kind(type);
  if (k == TypeKind::Error || k == TypeKind::Never || types.isUnit(type)) return true;
  const Node& n = instance.nodes[value];
  if (n.kind == NodeKind::Call) return !n.as<CallTarget>().inouts.empty();
  if (n.kind == NodeKind::Pop || n.kind == NodeKind::Debug) return true;
  if (n.kind == NodeKind::Unpack || n.kind == NodeKind::Within) return isUsedUp(n.children[0], node);
  if (n.kind == NodeKind::Block && !n.children.empty())
    return isUsedUp(n.children.back(), node) && !n.children.empty() &&
           instance.nodes[n.children.back()].kind != NodeKind::Local;
  return false;
}

NodeId Body::checkStatement(SynId node, bool last, TypeId expected) {
  const SynNode n = ast[node];
  switch (n.kind) {
  case SynKind::Let: return checkLet(n.as<syntax::Let>(), n.span);
  case SynKind::Assign: return checkAssign(n.as<syntax::Assign>(), n.span);
  case SynKind::OpAssign: return checkOpAssign(n.as<OpAssign>(), n.span);
  case SynKind::For: return checkFor(n.as<syntax::For>(), n.span);
  case SynKind::While: return checkWhile(n.as<syntax::While>(), n.span);
  case SynKind::Assert: return checkAssert(n.as<syntax::Assert>(), n.span);
  case SynKind::Fn: return checkNested(node);
  case SynKind::Const: return checkConst(n.as<ConstItem>(), n.span);
  case SynKind::Struct:
  case SynKind::Enum:
  case SynKind::Concept:
  case SynKind::Macro:
  case SynKind::Use:
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
    sink.report(DiagId::UnusedValue, span, b.show(b.typeOf(value)));
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
  if (DimId d = b.dimOf(value)) env.dims[item.name] = d;
  return b.make(NodeKind::Let, types.unit(), span, {value},
                PatternRef{bindPattern(local, b.typeOf(value), item.nameSpan)});
}

NodeId Body::checkLet(const syntax::Let& let, Span span) {
  TypeId asked;
  std::vector<DimSym> changing; // sizes of a variable declared with `_`
  bool simpleName = ast.kind(let.pattern) == SynKind::Name;
  if (let.type) asked = resolveType(let.type, true, let.isVar && simpleName ? &changing : nullptr);
  if (!changing.empty()) asked = types.pack(asked, changing);
  NodeId init = checkSized(let.init, asked);
  if (asked) init = coerce(init, asked, b.spanOf(init));
  if (let.isVar) init = withFunctionType(init);
  // `?N` names are what the value's sizes turned out to be.
  for (auto& [name, dim] : env.dims) dim = infer.zonk(dim);
  TypeId type = asked ? infer.zonk(asked) : b.typeOf(init);
  if (types.kind(type) == TypeKind::Never) return init;
  // `let n = N - 360`: a dimension expression is replaced by what it says (rule 23).
  bool refutable = false;
  NodeId otherwise;
  if (let.otherwise) {
    otherwise = checkExpr(let.otherwise);
    if (b.kindOf(otherwise) != TypeKind::Never && b.kindOf(otherwise) != TypeKind::Error) {
      sink.report(DiagId::TypeMismatch, ast.span(let.otherwise), "a block that leaves",
                  b.show(b.typeOf(otherwise)));
      return b.error(span);
    }
  }
  PatternId pattern =
      changing.empty()
          ? checkPattern(let.pattern, type, let.isVar, refutable)
          : bindPattern(declareLocal(ast[let.pattern].as<Name>().name, type, ast.span(let.pattern), true),
                        type, ast.span(let.pattern));
  if (refutable && !let.otherwise) sink.report(DiagId::Refutable, ast.span(let.pattern));
  if (simpleName && !let.isVar) {
    TypeId shallow = infer.shallow(type);
    std::vector<NodeId> before;
    if (types.kind(shallow) == TypeKind::I64)
      if (DimId d = b.dimOf(b.endOf(init, before)); d && instance.nodes[init].kind != NodeKind::Const)
        env.dims[ast[let.pattern].as<Name>().name] = d;
  }
  std::vector<NodeId> children{init};
  if (otherwise.valid()) children.push_back(otherwise);
  return b.make(NodeKind::Let, types.unit(), span, std::move(children), PatternRef{pattern});
}

NodeId Body::checkAssign(const syntax::Assign& a, Span span) {
  const SynNode target = ast[a.target];
  if (target.kind == SynKind::Underscore) {
    NodeId value = checkExpr(a.value);
    Pattern p;
    p.type = b.typeOf(value);
    p.span = target.span;
    return b.make(NodeKind::Let, types.unit(), span, {value}, PatternRef{instance.patterns.add(p)});
  }
  if (target.kind == SynKind::Tuple) return assignParts(target.as<Many>().items, a.value, span);
  Target to;
  if (!checkTarget(a.target, to)) return b.error(span);
  if (to.gathers.any()) return assignGathered(std::move(to), nullptr, a.value, span);
  TypeId wanted = to.place.type;
  NodeId value = checkExpr(a.value, wanted);
  // A scalar fills the place.
  TypeId type = b.typeOf(value);
  if (types.kind(infer.shallow(wanted)) == TypeKind::Array && types.kind(type) != TypeKind::Array &&
      types.kind(type) != TypeKind::Error) {
    std::vector<NodeId> nodes;
    NodeId scalar = b.local(b.bind("v", coerce(value, types.element(wanted), span), nodes), span);
    nodes.push_back(
        b.collect(b.dimsOf(infer.zonk(wanted)), span, [&](const std::vector<LocalId>&) { return scalar; }));
    value = b.block(std::move(nodes), span);
  }
  return assignTo(std::move(to), nullptr, coerce(value, wanted, span), span);
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
  NodeId all = b.local(b.bind("values", value, nodes), span);
  for (uint32_t k = 0; k < parts.size(); ++k)
    nodes.push_back(assignTo(std::move(targets[k]), nullptr, b.field(all, k, span), span));
  return b.block(std::move(nodes), span);
}

/// `current op value`; the user's own operators come first.
NodeId Body::combined(BinaryOp op, NodeId current, NodeId value, Span span) {
  TypeKind k = types.kind(types.element(b.typeOf(current)));
  if (k == TypeKind::Struct || k == TypeKind::Enum)
    if (NodeId user = userOperator(spelling(op), {current, value}, span)) return user;
  return b.binary(binaryKind(op), current, value, span);
}

NodeId Body::checkOpAssign(const OpAssign& a, Span span) {
  Target target;
  if (!checkTarget(a.target, target)) return b.error(span);
  if (target.gathers.any()) return assignGathered(std::move(target), &a.op, a.value, span);
  NodeId value = checkExpr(a.value);
  return b.kindOf(value) == TypeKind::Error ? value : assignTo(std::move(target), &a.op, value, span);
}

/// `A == e` on a dimension variable A holds in what follows (rule 23).
void Body::assumeEqual(SynId condition) {
  while (ast.kind(condition) == SynKind::Paren) condition = ast[condition].as<One>().inner;
  if (ast.kind(condition) != SynKind::Binary) return;
  const auto both = ast[condition].as<Binary>();
  if (both.op == BinaryOp::And) {
    assumeEqual(both.left);
    assumeEqual(both.right);
  }
  if (both.op != BinaryOp::Eq) return;
  for (auto [bare, other] : {std::pair(both.left, both.right), std::pair(both.right, both.left)})
    if (ast.kind(bare) == SynKind::Name && env.dims.contains(ast[bare].as<Name>().name))
      if (DimId equal = dimOfSyntax(other)) return infer.assume(env.dims[ast[bare].as<Name>().name], equal);
}

NodeId Body::checkAssert(const syntax::Assert& a, Span span) {
  NodeId condition = checkBoolean(a.condition, "`assert`");
  assumeEqual(a.condition);
  if (a.message) { // it is computed where the condition is false only
    ++conditions;
    NodeId message = coerce(checkExpr(a.message, types.str()), types.str(), ast.span(a.message));
    --conditions;
    NodeId panic = b.make(NodeKind::Panic, types.never(), span, {message});
    return b.make(NodeKind::If, types.unit(), span, {condition, b.unit(span), panic});
  }
  Const text;
  text.text = std::string(c.modules.sources.text(ast.span(a.condition)));
  return b.make(NodeKind::Assert, types.unit(), span, {condition}, text);
}

// --- branches
// -------------------------------------------------------------------------------------------------------

NodeId Body::checkIf(const syntax::If& node, Span span, TypeId expected) {
  size_t mark = scope.size();
  if (ast.kind(node.condition) == SynKind::LetCondition) {
    const auto let = ast[node.condition].as<LetCondition>();
    NodeId value = checkExpr(let.value);
    bool refutable = false;
    Arm hit;
    hit.pattern = checkPattern(let.pattern, b.typeOf(value), false, refutable);
    ++conditions;
    hit.body = checkExpr(node.then, expected);
    scope.resize(mark);
    Arm miss;
    Pattern any;
    any.type = b.typeOf(value);
    any.span = span;
    miss.pattern = instance.patterns.add(any);
    miss.body = node.otherwise ? checkExpr(node.otherwise, expected) : b.unit(span);
    --conditions;
    NodeId joined = joinBranches(NodeId::none(), hit.body, miss.body, span, expected);
    if (b.kindOf(joined) == TypeKind::Error) return joined;
    const Node pair = instance.nodes[joined];
    hit.body = pair.children[0], miss.body = pair.children[1];
    NodeId match = b.make(NodeKind::Match, pair.type, span, {value}, Arms{{hit, miss}, {}});
    instance.nodes[match].resultDims = pair.resultDims;
    return match;
  }
  NodeId cond = checkBoolean(node.condition, "`if`");
  ++conditions;
  NodeId then = checkExpr(node.then, expected);
  NodeId otherwise = node.otherwise ? checkExpr(node.otherwise, expected) : NodeId::none();
  --conditions;
  if (!node.otherwise) {
    TypeKind k = b.kindOf(then);
    if (k != TypeKind::Never && k != TypeKind::Error && !types.isUnit(b.typeOf(then)) &&
        !isUsedUp(then, node.then)) {
      sink.report(DiagId::UnusedValue, b.spanOf(then), b.show(b.typeOf(then))).hint =
          "an `else` gives the value for when the condition is false; `let _ = …` discards this one";
      return b.error(span);
    }
    return b.make(NodeKind::If, types.unit(), span, {cond, then});
  }
  NodeId joined = joinBranches(cond, then, otherwise, span, expected);
  return joined;
}

/// The two branches at one type. With a condition: an If; without: a node of the same type holding both.
NodeId Body::joinBranches(NodeId cond, NodeId then, NodeId otherwise, Span span, TypeId expected) {
  TypeId a = b.typeOf(then), o = b.typeOf(otherwise);
  auto made = [&](TypeId type) {
    std::vector<NodeId> children{then, otherwise};
    if (cond.valid()) children.insert(children.begin(), cond);
    return b.make(NodeKind::If, type, span, std::move(children));
  };
  auto addsNothing = [&](TypeId t) {
    return types.kind(t) == TypeKind::Never || (unsure && types.kind(t) == TypeKind::Error);
  };
  if (addsNothing(a)) return made(o);
  if (addsNothing(o)) return made(a);
  if (types.kind(a) == TypeKind::Error || types.kind(o) == TypeKind::Error) return b.error(span);
  if (expected) {
    then = coerce(then, expected, b.spanOf(then));
    otherwise = coerce(otherwise, expected, b.spanOf(otherwise));
    return made(infer.zonk(expected));
  }
  // Statement position: branches whose values nobody wants.
  if (types.isUnit(a) || types.isUnit(o)) {
    NodeId& valued = types.isUnit(a) ? otherwise : then;
    if (!types.isUnit(b.typeOf(valued)) && isUsedUp(valued, SynId::none()))
      valued = b.block({valued, b.unit(span)}, span);
  }
  a = b.typeOf(then), o = b.typeOf(otherwise);
  UnifyResult match = infer.unify(a, o);
  if (match.kind == UnifyKind::Mismatch || match.kind == UnifyKind::DimsDiffer) {
    sink.report(DiagId::BranchTypes, span, b.show(a), b.show(o));
    return b.error(span);
  }
  if (match.kind == UnifyKind::NeedsCheck) {
    // Sizes that differ between the branches: the result has sizes of its own.
    NodeId node = made(a);
    std::vector<DimSym> fresh;
    std::vector<DimId> dims = b.dimsOf(infer.zonk(a)), other = b.dimsOf(infer.zonk(o));
    for (size_t k = 0; k < dims.size() && k < other.size(); ++k)
      if (infer.zonk(dims[k]) != infer.zonk(other[k])) {
        fresh.push_back(types.dims.newSym({"_", types::DimSymKind::Unknown, 0, span}));
        dims[k] = types.dims.symbol(fresh.back());
      }
    if (!fresh.empty()) {
      instance.nodes[node].type = types.array(types.element(a), dims);
      instance.nodes[node].resultDims = fresh;
    }
    return node;
  }
  return made(infer.zonk(a));
}

// --- loops
// ----------------------------------------------------------------------------------------------------------

void Body::enterLoop(LoopFrame frame) {
  frame.builderDepth = builderDepth;
  loops.push_back(frame);
  ++conditions;
}

void Body::leaveLoop() {
  loops.pop_back();
  --conditions;
}

NodeId Body::checkWhile(const syntax::While& loop, Span span) {
  LoopFrame frame;
  frame.id = static_cast<LoopId>(instance.nodes.size());
  NodeId cond = checkBoolean(loop.condition, "`while`");
  enterLoop(frame);
  NodeId body = dropped(checkExpr(loop.body), loop.body);
  leaveLoop();
  return b.make(NodeKind::While, types.unit(), span, {cond, body}, check::Loop{frame.id});
}

NodeId Body::checkLoop(const One& loop, Span span) {
  LoopFrame frame;
  frame.id = static_cast<LoopId>(instance.nodes.size());
  frame.isLoop = true;
  enterLoop(frame);
  NodeId body = checkExpr(loop.inner);
  frame = loops.back();
  leaveLoop();
  TypeId type = !frame.broken ? types.never() : frame.breakType ? frame.breakType : types.unit();
  return b.make(NodeKind::Loop, type, span, {body}, check::Loop{frame.id});
}

NodeId Body::checkBreak(const One& brk, Span span) {
  if (loops.empty() || loops.back().builderDepth != builderDepth) {
    sink.report(builderDepth > 0 ? DiagId::BuilderControl : DiagId::NoLoop, span, "break");
    return b.error(span);
  }
  size_t level = loops.size() - 1;
  std::vector<NodeId> children;
  if (brk.inner) {
    NodeId value = checkExpr(brk.inner, loops[level].breakType);
    if (!loops[level].isLoop) {
      sink.report(DiagId::BreakValue, span);
      return b.error(span);
    }
    if (!loops[level].breakType) loops[level].breakType = b.typeOf(value);
    children.push_back(coerce(value, loops[level].breakType, span));
  } else if (loops[level].isLoop) {
    if (!loops[level].breakType) loops[level].breakType = types.unit();
    if (infer.unify(loops[level].breakType, types.unit()).kind != UnifyKind::Equal)
      sink.report(DiagId::TypeMismatch, span, b.show(loops[level].breakType), "()").hint =
          "every `break` of a `loop` gives a value, or none does";
  }
  loops[level].broken = true;
  return b.make(NodeKind::Break, types.never(), span, std::move(children), check::Loop{loops[level].id});
}

/// The result type for one value that is returned: sizes that the function decides are this value's own.
TypeId Body::returnHere(Span span) {
  if (!returnType) return returnType;
  std::vector<DimSym> symbols;
  types.collectSymbols(returnType, symbols);
  types::DimSubst open;
  const std::vector<DimSym>& own = instance.dimParams;
  for (DimSym s : symbols)
    if (types.dims.info(s).kind == types::DimSymKind::Unknown &&
        std::find(own.begin(), own.end(), s) == own.end()) {
      returnedSizes.push_back(infer.freshDim(types.dims.info(s).name, span));
      open.emplace(s, types.dims.symbol(returnedSizes.back()));
    }
  return types.substitute(returnType, open);
}

NodeId Body::checkReturn(const One& ret, Span span) {
  if (!mayReturn || builderDepth > 0) {
    sink.report(builderDepth > 0 ? DiagId::BuilderControl : DiagId::NoReturn, span, "return");
    return b.error(span);
  }
  std::vector<NodeId> children;
  TypeId type = types.unit(), wanted;
  if (ret.inner) {
    wanted = returnHere(span);
    NodeId value = checkExpr(ret.inner, wanted);
    type = b.typeOf(value);
    children.push_back(value);
  }
  if (children.empty() && isScript) // the script ends
    children = {
        b.make(NodeKind::Variant, returnType, span, {b.unit(span)}, Index{caseNumber(returnType, "Ok")})};
  else if (!returnType) {
    returnType = type;
  } else if (children.empty()) {
    if (infer.unify(returnType, type).kind != UnifyKind::Equal)
      sink.report(DiagId::TypeMismatch, span, b.show(returnType), "()");
  } else {
    children[0] = coerce(children[0], wanted, span);
  }
  return b.make(NodeKind::Return, types.never(), span, std::move(children));
}

NodeId Body::checkFor(const syntax::For& loop, Span span) {
  if (loop.byPlace) return forByPlace(loop, span);
  if (ast.kind(loop.range) == SynKind::Range)
    return forOverRange(loop, ast[loop.range].as<syntax::Range>(), span);
  NodeId xs = unpacked(checkExpr(loop.range), ast.span(loop.range));
  TypeKind k = b.kindOf(xs);
  if (k == TypeKind::Error) return xs;
  if (k == TypeKind::Array || k == TypeKind::List) return forOverElements(loop, xs, span);
  auto pattern = [&](TypeId element) {
    bool refutable = false;
    PatternId made = checkPattern(loop.pattern, element, false, refutable);
    if (refutable) sink.report(DiagId::Refutable, ast.span(loop.pattern));
    return made;
  };
  return iterate(
      xs, ast.span(loop.range), pattern, [&] { return dropped(checkExpr(loop.body), loop.body); }, span);
}

NodeId Body::forOverRange(const syntax::For& loop, const syntax::Range& range, Span span) {
  NodeId first = checkExpr(range.first), last = range.last ? checkExpr(range.last) : NodeId::none();
  if (!last.valid()) {
    sink.report(DiagId::RangeNeeded, span, "this loop");
    return b.error(span);
  }
  if (b.kindOf(first) == TypeKind::Never) return first;
  if (b.kindOf(last) == TypeKind::Never) return b.block({first, last}, span);
  // The bounds mix like operands; the index has their type.
  NodeId sum = b.binary(BinaryKind::Add, first, last, span);
  TypeId type = b.typeOf(sum);
  if (types.kind(type) == TypeKind::Error) return sum;
  TypeId shallow = infer.shallow(type);
  if (!types.isInt(shallow) &&
      !(infer.isOpen(shallow) && infer.varClass(shallow) == types::VarClass::OpenInt)) {
    sink.report(DiagId::IndexType, span, b.show(type));
    return b.error(span);
  }
  std::vector<NodeId> children{b.convert(first, type, b.spanOf(first)),
                               b.convert(last, type, b.spanOf(last))};
  if (range.step) children.push_back(coerce(checkExpr(range.step, type), type, span));
  size_t mark = scope.size();
  check::For payload;
  payload.loop = static_cast<LoopId>(instance.nodes.size());
  if (ast.kind(loop.pattern) == SynKind::Name)
    payload.index = declareLocal(ast[loop.pattern].as<Name>().name, type, ast.span(loop.pattern), false);
  if (payload.index)
    used.insert(payload.index); // it may but count the rounds
  else if (ast.kind(loop.pattern) == SynKind::Underscore)
    payload.index = b.newLocal("_", type, span);
  else {
    sink.report(DiagId::PatternType, ast.span(loop.pattern), "int");
    return b.error(span);
  }
  LoopFrame frame;
  frame.id = payload.loop;
  enterLoop(frame);
  children.push_back(dropped(checkExpr(loop.body), loop.body));
  leaveLoop();
  scope.resize(mark);
  return b.make(NodeKind::For, types.unit(), span, std::move(children), payload);
}

/// Over the first axis of an array, or a list: the elements are copies, the length is read once.
NodeId Body::forOverElements(const syntax::For& loop, NodeId xs, Span span) {
  std::vector<NodeId> nodes;
  LocalId held = b.bind("xs", xs, nodes);
  TypeId type = b.typeOf(xs);
  bool list = types.kind(type) == TypeKind::List;
  NodeId length = list ? b.make(NodeKind::Length, types.int64(), span, {b.local(held, span)})
                       : b.dimValue(b.dimsOf(type)[0], span);
  check::For payload;
  payload.loop = static_cast<LoopId>(instance.nodes.size());
  payload.index = b.newLocal("k", types.int64(), span);
  size_t mark = scope.size();
  NodeId element;
  if (list) {
    Steps steps{{Step{StepKind::Element, 0, b.local(payload.index, span), {}, {}, 1, span}}};
    element = b.make(NodeKind::Get, types[type].parts[0], span, {b.local(held, span)}, std::move(steps));
  } else {
    element = b.at(b.local(held, span), {payload.index}, span);
  }
  bool refutable = false;
  PatternId pattern = checkPattern(loop.pattern, b.typeOf(element), false, refutable);
  if (refutable) sink.report(DiagId::Refutable, ast.span(loop.pattern));
  LoopFrame frame;
  frame.id = payload.loop;
  enterLoop(frame);
  NodeId body = dropped(checkExpr(loop.body), loop.body);
  leaveLoop();
  scope.resize(mark);
  NodeId let = b.make(NodeKind::Let, types.unit(), span, {element}, PatternRef{pattern});
  NodeId whole = b.make(NodeKind::Block, types.unit(), span, {let, body, b.unit(span)});
  nodes.push_back(b.make(NodeKind::For, types.unit(), span, {b.integer(0, span), length, whole}, payload));
  return b.make(NodeKind::Block, types.unit(), span, std::move(nodes));
}

/// `iter` or `next` for a value: of this module and its imports, or of the home of its type.
std::optional<DeclId> Body::protocolFunction(NameId name, NodeId value, Span span) {
  std::vector<std::vector<DeclId>> layers = c.functionLayers(module, name);
  for (ModuleId home : homeModules(b.typeOf(value))) layers.push_back(c.functionsAtHome(home, name));
  std::vector<CallArg> args{{NameId::none(), SynId::none(), value, span}};
  for (const auto& layer : layers)
    if (auto chosen = layer.empty() ? std::nullopt : choose(name, layer, args, span, false)) return chosen;
  return std::nullopt;
}

/// `var it = iter(e); loop { match next(&it) { Some(p) => body, None => break } }` (rule 36).
NodeId Body::iterate(NodeId source, Span at, const std::function<PatternId(TypeId)>& pattern,
                     const std::function<NodeId()>& body, Span span) {
  std::vector<NodeId> nodes;
  std::vector<CallArg> args{{NameId::none(), SynId::none(), source, span}};
  NameId iterName = types.names.intern("iter"), nextName = types.names.intern("next");
  TypeId type = b.typeOf(source);
  NodeId it = source;
  if (auto iter = protocolFunction(iterName, source, span))
    it = callDecl(*iter, args, nullptr, TypeId::none(), span);
  LocalId held = b.newLocal("it", b.typeOf(it), span, true);
  nodes.push_back(b.let(held, it));
  args[0].node = b.local(held, span);
  std::optional<DeclId> next = protocolFunction(nextName, args[0].node, span);
  if (!next) {
    sink.report(DiagId::NotIterable, at, b.show(type));
    return b.error(span);
  }
  NodeId option = callDecl(*next, args, nullptr, TypeId::none(), span);
  TypeId optionType = b.typeOf(option);
  if (!isPreludeEnum(optionType, "Option")) {
    if (types.kind(optionType) != TypeKind::Error) sink.report(DiagId::NotIterable, at, b.show(type));
    return b.error(span);
  }
  LoopFrame frame;
  frame.id = static_cast<LoopId>(instance.nodes.size());
  size_t mark = scope.size();
  Pattern some;
  some.kind = PatternKind::Case;
  some.type = optionType;
  some.span = at;
  some.caseIndex = caseNumber(optionType, "Some");
  some.subs = {pattern(types.fieldType(optionType, some.caseIndex, 0))};
  enterLoop(frame);
  Arm hit;
  hit.body = body();
  leaveLoop();
  scope.resize(mark);
  hit.body = b.block({hit.body, b.unit(span)}, span);
  hit.pattern = instance.patterns.add(some);
  Pattern any;
  any.type = optionType;
  any.span = span;
  Arm miss;
  miss.pattern = instance.patterns.add(any);
  miss.body = b.make(NodeKind::Break, types.never(), span, {}, check::Loop{frame.id});
  NodeId match = b.make(NodeKind::Match, types.unit(), span, {option}, Arms{{hit, miss}, {}});
  nodes.push_back(b.make(NodeKind::Loop, types.unit(), span, {match}, check::Loop{frame.id}));
  return b.make(NodeKind::Block, types.unit(), span, std::move(nodes));
}

/// `var out: List[T] = []; for x in e { out.push(x) }; out`
NodeId Body::listOfIterator(NodeId source, Span span) {
  LocalId out, element;
  TypeId list;
  auto pattern = [&](TypeId type) {
    list = types.list(type);
    out = b.newLocal("out", list, span, true);
    element = b.newLocal("x", type, span);
    return bindPattern(element, type, span);
  };
  auto push = [&] {
    NodeId pushed = b.make(NodeKind::Push, list, span, {b.local(out, span), b.local(element, span)});
    return b.make(NodeKind::Assign, types.unit(), span, {pushed}, Place{out, {}, list});
  };
  NodeId loop = iterate(source, span, pattern, push, span);
  if (b.kindOf(loop) == TypeKind::Error) return loop;
  return b.block({b.let(out, b.make(NodeKind::ListOf, list, span)), loop, b.local(out, span)}, span);
}

} // namespace melix::check
