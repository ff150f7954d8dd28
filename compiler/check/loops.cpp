// Loops, what leaves them, and what they iterate over.
#include "check/body.h"
#include "check/protocols.h"

namespace melix::check {

using namespace syntax;

void Body::enterLoop(LoopFrame frame) {
  frame.builderDepth = builderDepth;
  frame.leaves = frame.id;
  loops.push_back(frame);
  ++conditions;
}

void Body::leaveLoop() {
  loops.pop_back();
  --conditions;
}

NodeId Body::checkWhile(const syntax::While& loop, Span span) {
  if (ast.kind(loop.condition) == SynKind::LetCondition)
    return whileLet(ast[loop.condition].as<LetCondition>(), loop.body, span);
  LoopFrame frame;
  frame.id = static_cast<LoopId>(instance.nodes.size());
  NodeId cond = checkBoolean(loop.condition, "`while`");
  enterLoop(frame);
  NodeId body = dropped(checkExpr(loop.body), loop.body);
  leaveLoop();
  if (b.kindOf(cond) == TypeKind::Never) return cond; // what is repeated is never reached
  return b.make(NodeKind::While, types.unit(), span, {cond, body}, check::Loop{frame.id});
}

/// `loop { match e { P => body, _ => break } }`
NodeId Body::whileLet(const LetCondition& let, SynId body, Span span) {
  NodeId value = checkExpr(let.value);
  if (b.kindOf(value) == TypeKind::Never) return value;
  LoopFrame frame;
  frame.id = static_cast<LoopId>(instance.nodes.size());
  const size_t mark = scope.size();
  bool refutable = false;
  Arm hit, miss;
  hit.pattern = checkPattern(let.pattern, b.typeOf(value), false, refutable);
  enterLoop(frame);
  hit.body = b.block({dropped(checkExpr(body), body), b.unit(span)}, span);
  leaveLoop();
  scope.leave(mark);
  if (b.kindOf(value) == TypeKind::Error) return value;
  miss.pattern = anyPattern(b.typeOf(value), span);
  miss.body = b.make(NodeKind::Break, types.never(), span, {}, check::Loop{frame.id});
  NodeId match = b.make(NodeKind::Match, types.unit(), span, {value}, Arms{{hit, miss}, {}});
  return b.make(NodeKind::Loop, types.unit(), span, {match}, check::Loop{frame.id});
}

NodeId Body::checkLoop(const One& loop, Span span) {
  LoopFrame frame;
  frame.id = static_cast<LoopId>(instance.nodes.size());
  frame.isLoop = true;
  frame.firstSymbol = static_cast<uint32_t>(types.dims.symCount());
  enterLoop(frame);
  NodeId body = checkExpr(loop.inner);
  frame = loops.back();
  leaveLoop();
  return loopValue(frame, body, span);
}

/// The loop with the values of its `break`s: sizes found in it, and such as differ, leave it beside the
/// value.
NodeId Body::loopValue(const LoopFrame& frame, NodeId body, Span span) {
  TypeId type = !frame.broken ? types.never() : frame.breakType ? infer.zonk(frame.breakType) : types.unit();
  auto isOwn = [&](DimSym s) { return s.index >= frame.firstSymbol && isFoundSize(s); };
  std::vector<DimSym> own, fresh;
  for (NodeId leaving : frame.breaks)
    type = joinedSizes(type, b.typeOf(instance.nodes[leaving].children[0]), span, fresh);
  type = c.withExistentialSizes(type, isOwn);
  types.collectSymbols(type, own);
  std::erase_if(own, [&](DimSym s) { return !isOwn(s); });
  if (own.empty()) return b.make(NodeKind::Loop, type, span, {body}, check::Loop{frame.id});
  const TypeId pack = types.pack(type, own);
  for (NodeId leaving : frame.breaks) {
    NodeId value = instance.nodes[leaving].children[0];
    types::DimSubst found;
    c.matchSymbols(type, b.typeOf(value), found);
    Dims sizes;
    for (DimSym s : own) sizes.dims.push_back(found.at(s));
    NodeId packed = b.make(NodeKind::Pack, pack, b.spanOf(value), {value}, std::move(sizes));
    instance.nodes[leaving].children[0] = packed;
  }
  return unpacked(b.make(NodeKind::Loop, pack, span, {body}, check::Loop{frame.id}), span);
}

NodeId Body::checkBreak(const One& brk, Span span) {
  if (loops.empty() || loops.back().builderDepth != builderDepth) {
    sink.report(builderDepth > 0 ? DiagId::BuilderControl : DiagId::NoLoop, span, "break");
    return b.error(span);
  }
  const size_t level = loops.size() - 1;
  std::vector<NodeId> children;
  if (brk.inner) {
    NodeId value = checkExpr(brk.inner, expectedFrom(loops[level].breakType));
    if (!loops[level].isLoop) {
      sink.report(DiagId::BreakValue, span);
      return b.error(span);
    }
    TypeId& type = loops[level].breakType;
    if (b.kindOf(value) == TypeKind::Never) return value; // never gets to leave
    if (!type || isUnknownYet(type)) type = b.typeOf(value);
    if (infer.unify(type, b.typeOf(value)).kind != UnifyKind::NeedsCheck) value = coerce(value, type, span);
    if (b.kindOf(value) == TypeKind::Error || isUnknownYet(b.typeOf(value))) {
      loops[level].broken = true;
      return value;
    }
    children.push_back(value);
  } else if (loops[level].isLoop) {
    if (!loops[level].breakType) loops[level].breakType = types.unit();
    if (infer.unify(loops[level].breakType, types.unit()).kind != UnifyKind::Equal)
      sink.report(DiagId::TypeMismatch, span, b.show(loops[level].breakType), "()").hint =
          "every `break` of a `loop` gives a value, or none does";
  }
  const bool valued = !children.empty();
  NodeId made =
      b.make(NodeKind::Break, types.never(), span, std::move(children), check::Loop{loops[level].leaves});
  if (valued) loops[level].breaks.push_back(made);
  loops[level].broken = true;
  return made;
}

/// The result type for one value that is returned: sizes that the function decides are this value's own.
TypeId Body::freshResult(Span span) {
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
    wanted = freshResult(span);
    NodeId value = checkExpr(ret.inner, wanted);
    type = b.typeOf(value);
    if (types.kind(type) == TypeKind::Never) return value; // never gets to return
    if (!wanted && returnType) wanted = freshResult(span); // told by a `return` inside
    children.push_back(value);
  }
  if (children.empty() && isScript) // the script ends
    children = {
        b.make(NodeKind::Variant, returnType, span, {b.unit(span)}, Index{caseNumber(returnType, "Ok")})};
  else if (!returnType) {
    if (determinesType(type)) returnType = type;
  } else if (children.empty()) {
    if (infer.unify(returnType, type).kind != UnifyKind::Equal)
      sink.report(DiagId::TypeMismatch, span, b.show(returnType), "()");
  } else {
    children[0] = coerce(children[0], wanted, ast.span(ret.inner));
  }
  return b.make(NodeKind::Return, types.never(), span, std::move(children));
}

/// Each head is a loop around those after it; `break` ends them all, `continue` one round of the innermost.
NodeId Body::checkFor(const syntax::For& loop, Span span, size_t head) {
  auto round = [&] {
    if (head > 0) loops.back().leaves = loops[loops.size() - 2].leaves;
    return head + 1 < loop.heads.size() ? checkFor(loop, span, head + 1) : checkRound(loop);
  };
  return checkForHead(loop.heads[head], round, span);
}

NodeId Body::checkRound(const syntax::For& loop) {
  NodeId filter = loop.filter ? checkBoolean(loop.filter, "a filter") : NodeId::none();
  conditions += filter.valid();
  NodeId body = dropped(checkExpr(loop.body), loop.body);
  conditions -= filter.valid();
  return filter.valid() ? b.make(NodeKind::If, types.unit(), ast.span(loop.body), {filter, body}) : body;
}

NodeId Body::checkForHead(const ForHead& head, const CheckRound& round, Span span) {
  if (head.byPlace) return forByPlace(head, round, span);
  if (ast.kind(head.range) == SynKind::Range) return forOverRange(head, round, span);
  NodeId xs = unpacked(checkExpr(head.range), ast.span(head.range));
  TypeKind k = b.kindOf(xs);
  if (k == TypeKind::Error) return xs;
  if (isRange(b.typeOf(xs))) return forOverRangeValue(head, xs, round, span);
  if (k == TypeKind::Array || k == TypeKind::List) return forOverElements(head, xs, round, span);
  auto pattern = [&](TypeId element) {
    bool refutable = false;
    PatternId made = checkPattern(head.pattern, element, false, refutable);
    if (refutable) sink.report(DiagId::Refutable, ast.span(head.pattern));
    return made;
  };
  return iterate(xs, ast.span(head.range), pattern, round, span);
}

NodeId Body::forOverRange(const ForHead& head, const CheckRound& round, Span span) {
  const auto& range = ast[head.range].as<syntax::Range>();
  NodeId first = checkExpr(range.first), last = range.last ? checkExpr(range.last) : NodeId::none();
  if (!last.valid()) {
    sink.report(DiagId::RangeNeeded, span, "this loop");
    return b.error(span);
  }
  if (b.kindOf(first) == TypeKind::Never) return first;
  if (b.kindOf(last) == TypeKind::Never) return b.block({first, last}, span);
  auto isWhole = [&](TypeId type) {
    const TypeId t = infer.shallow(type);
    return types.isInt(t) || (infer.isOpen(t) && infer.varClass(t) == types::VarClass::OpenInt);
  };
  const NodeId wrong = isWhole(b.typeOf(last)) ? first : last;
  // The bounds mix like operands; the index has their type.
  NodeId sum = b.binary(BinaryKind::Add, first, last, span);
  TypeId type = b.typeOf(sum);
  if (types.kind(type) == TypeKind::Error) return sum;
  if (!isWhole(type)) {
    if (b.lacks(type, "Int", "a range", span)) return b.error(span);
    sink.report(DiagId::IndexType, b.spanOf(wrong), b.show(b.typeOf(wrong))).hint =
        "the ends of a range are integers";
    return b.error(span);
  }
  std::vector<NodeId> children{b.convert(first, type, b.spanOf(first)),
                               b.convert(last, type, b.spanOf(last))};
  if (range.step) {
    NodeId step = checkExpr(range.step, type);
    if (auto literal = b.literal(step); literal && *literal < 1) {
      sink.report(DiagId::RangeStep, ast.span(range.step), std::to_string(*literal));
      return b.error(span);
    }
    children.push_back(coerce(step, type, span));
  }
  size_t mark = scope.size();
  check::For payload;
  payload.loop = static_cast<LoopId>(instance.nodes.size());
  if (ast.kind(head.pattern) == SynKind::Name)
    payload.index = declareLocal(ast[head.pattern].as<Name>().name, type, ast.span(head.pattern), false);
  if (payload.index)
    used.insert(payload.index); // it may but count the rounds
  else if (ast.kind(head.pattern) == SynKind::Underscore)
    payload.index = b.newLocal("_", type, span);
  else {
    sink.report(DiagId::PatternType, ast.span(head.pattern), "int");
    return b.error(span);
  }
  LoopFrame frame;
  frame.id = payload.loop;
  enterLoop(frame);
  children.push_back(round());
  leaveLoop();
  scope.leave(mark);
  return b.make(NodeKind::For, types.unit(), span, std::move(children), payload);
}

/// Over a range that is a value.
NodeId Body::forOverRangeValue(const ForHead& head, NodeId range, const CheckRound& round, Span span) {
  std::vector<NodeId> nodes;
  LocalId held = b.bind("range", range, nodes);
  NodeId length = callPrelude("range_steps", {b.local(held, span)}, span);
  auto number = [&](LocalId k) { return numberOfRange(b.local(held, span), b.local(k, span), span); };
  nodes.push_back(forOverPlaces(head, length, number, round, span));
  return b.block(std::move(nodes), span);
}

/// first + place * step
NodeId Body::numberOfRange(NodeId range, NodeId place, Span span) {
  NodeId offset = b.op(OpKind::Mul, types.int64(), {place, b.field(range, 2, span)}, span);
  return b.op(OpKind::Add, types.int64(), {b.field(range, 0, span), offset}, span);
}

/// The numbers of a range that is a value.
NodeId Body::arrayOfRange(NodeId range, Span span) {
  std::vector<NodeId> nodes;
  LocalId held = b.bind("range", range, nodes);
  LocalId count = b.bind("n", callPrelude("range_steps", {b.local(held, span)}, span), nodes);
  nodes.push_back(b.collect({b.dimOf(b.local(count, span))}, span, [&](const std::vector<LocalId>& k) {
    return numberOfRange(b.local(held, span), b.local(k[0], span), span);
  }));
  return b.block(std::move(nodes), span);
}

/// Over the first axis of an array, or a list: the elements are copies, the length is read once.
NodeId Body::forOverElements(const ForHead& head, NodeId xs, const CheckRound& round, Span span) {
  std::vector<NodeId> nodes;
  LocalId held = b.bind("xs", xs, nodes);
  TypeId type = b.typeOf(xs);
  bool list = types.kind(type) == TypeKind::List;
  NodeId length = list ? b.make(NodeKind::Length, types.int64(), span, {b.local(held, span)})
                       : b.dimValue(b.dimsOf(type)[0], span);
  auto element = [&](LocalId k) {
    if (!list) return b.at(b.local(held, span), {k}, span);
    Steps steps{{Step{StepKind::Element, 0, b.local(k, span), {}, {}, 1, span}}};
    return b.make(NodeKind::Get, types[type].parts[0], span, {b.local(held, span)}, std::move(steps));
  };
  nodes.push_back(forOverPlaces(head, length, element, round, span));
  return b.make(NodeKind::Block, types.unit(), span, std::move(nodes));
}

/// `for k in 0..length { let pattern = element(k); … }`
NodeId Body::forOverPlaces(const ForHead& head, NodeId length, const ElementAt& elementAt,
                           const CheckRound& round, Span span) {
  check::For payload;
  payload.loop = static_cast<LoopId>(instance.nodes.size());
  payload.index = b.newLocal("k", types.int64(), span);
  const size_t mark = scope.size();
  NodeId element = elementAt(payload.index);
  bool refutable = false;
  PatternId pattern = checkPattern(head.pattern, b.typeOf(element), false, refutable);
  if (refutable) sink.report(DiagId::Refutable, ast.span(head.pattern));
  LoopFrame frame;
  frame.id = payload.loop;
  enterLoop(frame);
  NodeId body = round();
  leaveLoop();
  scope.leave(mark);
  NodeId let = b.make(NodeKind::Let, types.unit(), span, {element}, PatternRef{pattern});
  NodeId whole = b.make(NodeKind::Block, types.unit(), span, {let, body, b.unit(span)});
  return b.make(NodeKind::For, types.unit(), span, {b.integer(0, span), length, whole}, payload);
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
                     const CheckRound& round, Span span) {
  std::vector<NodeId> nodes;
  std::vector<CallArg> args{{NameId::none(), SynId::none(), source, span}};
  NameId iterName = types.names.intern(protocols::iter), nextName = types.names.intern(protocols::next);
  TypeId type = b.typeOf(source);
  NodeId it = source;
  auto lacks = [&](const std::string& what) {
    if (types.kind(type) != TypeKind::Error)
      sink.report(DiagId::NotIterable, at, b.show(type)).hint = "what is iterated has " + what;
    return b.error(span);
  };
  auto iter = protocolFunction(iterName, source, span);
  if (iter) it = callDecl(*iter, args, nullptr, TypeId::none(), span);
  if (types.holds(b.typeOf(it), TypeKind::Error)) return b.error(span);
  LocalId held = b.newLocal("it", b.typeOf(it), span, true);
  nodes.push_back(b.let(held, it));
  args[0].node = b.local(held, span);
  std::optional<DeclId> next = protocolFunction(nextName, args[0].node, span);
  const std::string shown = b.show(b.typeOf(it));
  if (!iter && !next) {
    sink.report(DiagId::NotIterable, at, b.show(type));
    return b.error(span);
  }
  if (!iter) return lacks("an `iter` too: `fn iter(x: " + shown + ") -> " + shown + " = x`");
  if (!next || !c.function(*next).params[0].isInout)
    return lacks("a `next` that changes its iterator: `fn next(inout x: " + shown + ") -> Option[T]`");
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
  hit.body = round();
  leaveLoop();
  scope.leave(mark);
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
    return b.bindPattern(element, type, span);
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
