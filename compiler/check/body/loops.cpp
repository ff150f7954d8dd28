// `while` and `loop`, and what leaves loops and functions.
#include "check/body/loops.h"

#include "check/signatures/lookup.h"
#include "check/statements/branches.h"

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

namespace {

LoopFrame newFrame(const Body& body) {
  LoopFrame frame;
  frame.id = static_cast<LoopId>(body.instance.nodes.size());
  return frame;
}

/// `loop { match e { P => body, _ => break } }`
NodeId whileLet(Body& body, const LetCondition& let, SynId repeated, Span span) {
  NodeBuilder& b = body.b;
  NodeId value = body.checkExpr(let.value);
  if (b.kindOf(value) == TypeKind::Never) return value;
  const LoopFrame frame = newFrame(body);
  const size_t mark = body.scope.size();
  bool refutable = false;
  Arm hit, miss;
  hit.pattern = body.checkPattern(let.pattern, b.typeOf(value), false, refutable);
  body.enterLoop(frame);
  hit.body = b.block({body.dropped(body.checkExpr(repeated), repeated), b.unit(span)}, span);
  body.leaveLoop();
  body.scope.leave(mark);
  if (b.kindOf(value) == TypeKind::Error) return value;
  miss.pattern = body.anyPattern(b.typeOf(value), span);
  miss.body = b.make(NodeKind::Break, body.types.never(), span, {}, check::Loop{frame.id});
  NodeId match = b.make(NodeKind::Match, body.types.unit(), span, {value}, Arms{{hit, miss}, {}});
  return b.make(NodeKind::Loop, body.types.unit(), span, {match}, check::Loop{frame.id});
}

/// The loop with the values of its `break`s: sizes found in it, and such as differ, leave it beside the
/// value.
NodeId loopValue(Body& body, const LoopFrame& frame, NodeId repeated, Span span) {
  NodeBuilder& b = body.b;
  TypeStore& types = body.types;
  TypeId type = !frame.broken     ? types.never()
                : frame.breakType ? body.infer.zonk(frame.breakType)
                                  : types.unit();
  auto isOwn = [&](DimSym s) { return s.index >= frame.firstSymbol && body.isFoundSize(s); };
  std::vector<DimSym> own;
  SizeJoin met(body, TypeId::none(), span);
  for (NodeId leaving : frame.breaks)
    type = met.join(type, b.typeOf(body.instance.nodes[leaving].children[0]));
  type = withExistentialSizes(body.c, type, isOwn);
  types.collectSymbols(type, own);
  std::erase_if(own, [&](DimSym s) { return !isOwn(s); });
  if (own.empty()) return b.make(NodeKind::Loop, type, span, {repeated}, check::Loop{frame.id});
  const TypeId pack = types.pack(type, own);
  for (NodeId leaving : frame.breaks) {
    NodeId value = body.instance.nodes[leaving].children[0];
    types::DimSubst found;
    matchSymbols(body.c, type, b.typeOf(value), found);
    Dims sizes;
    for (DimSym s : own) sizes.dims.push_back(found.at(s));
    NodeId packed = b.make(NodeKind::Pack, pack, b.spanOf(value), {value}, std::move(sizes));
    body.instance.nodes.edit(leaving).children[0] = packed;
  }
  return body.unpacked(b.make(NodeKind::Loop, pack, span, {repeated}, check::Loop{frame.id}), span);
}

} // namespace

NodeId checkWhile(Body& body, const syntax::While& loop, Span span) {
  if (body.ast.kind(loop.condition) == SynKind::LetCondition)
    return whileLet(body, body.ast[loop.condition].as<LetCondition>(), loop.body, span);
  const LoopFrame frame = newFrame(body);
  NodeId cond = body.checkBoolean(loop.condition, "`while`");
  body.enterLoop(frame);
  NodeId repeated = body.dropped(body.checkExpr(loop.body), loop.body);
  body.leaveLoop();
  if (body.b.kindOf(cond) == TypeKind::Never) return cond; // what is repeated is never reached
  return body.b.make(NodeKind::While, body.types.unit(), span, {cond, repeated}, check::Loop{frame.id});
}

NodeId checkLoop(Body& body, const One& loop, Span span) {
  LoopFrame frame = newFrame(body);
  frame.isLoop = true;
  frame.firstSymbol = static_cast<uint32_t>(body.types.dims.symCount());
  body.enterLoop(frame);
  NodeId repeated = body.checkExpr(loop.inner);
  frame = body.loops.back();
  body.leaveLoop();
  return loopValue(body, frame, repeated, span);
}

namespace {

/// Checks the value that a `break` gives to the innermost loop; `leaves`: it is one, and not left before.
NodeId breakValue(Body& body, SynId written, Span span, bool& leaves) {
  NodeBuilder& b = body.b;
  NodeId value = body.checkExpr(written, body.expectedFrom(body.loops.back().breakType));
  LoopFrame& frame = body.loops.editBack();
  leaves = false;
  if (!frame.isLoop) {
    body.sink.report(DiagId::BreakValue, span);
    return b.error(span);
  }
  TypeId& type = frame.breakType;
  if (b.kindOf(value) == TypeKind::Never) return value; // never gets to leave
  if (!type || body.isUnknownYet(type)) type = b.typeOf(value);
  if (body.infer.unify(type, b.typeOf(value)).kind != UnifyKind::NeedsCheck)
    value = body.coerce(value, type, span);
  leaves = b.kindOf(value) != TypeKind::Error && !body.isUnknownYet(b.typeOf(value));
  frame.broken |= !leaves;
  return value;
}

} // namespace

NodeId checkBreak(Body& body, const One& leave, Span span) {
  if (body.loops.empty() || body.loops.back().builderDepth != body.builderDepth) {
    body.sink.report(body.builderDepth > 0 ? DiagId::BuilderControl : DiagId::NoLoop, span, "break");
    return body.b.error(span);
  }
  std::vector<NodeId> children;
  if (leave.inner) {
    bool leaves = false;
    children.push_back(breakValue(body, leave.inner, span, leaves));
    if (!leaves) return children[0];
  }
  LoopFrame& frame = body.loops.editBack();
  if (!leave.inner && frame.isLoop) {
    if (!frame.breakType) frame.breakType = body.types.unit();
    if (body.infer.unify(frame.breakType, body.types.unit()).kind != UnifyKind::Equal)
      body.sink.report(DiagId::TypeMismatch, span, body.b.show(frame.breakType), "()").hint =
          "every `break` of a `loop` gives a value, or none does";
  }
  NodeId made =
      body.b.make(NodeKind::Break, body.types.never(), span, std::move(children), check::Loop{frame.leaves});
  if (leave.inner) frame.breaks.push_back(made);
  frame.broken = true;
  return made;
}

/// The result type for one value that is returned: sizes that the function decides are this value's own.
TypeId Body::freshResult() {
  if (!returnType) return returnType;
  std::vector<DimSym> symbols;
  types.collectSymbols(returnType, symbols);
  types::DimSubst open;
  const std::vector<DimSym>& own = instance.dimParams;
  for (DimSym s : symbols)
    if (types.dims.info(s).kind == types::DimSymKind::Unknown &&
        std::find(own.begin(), own.end(), s) == own.end()) {
      const types::DimSymInfo size = types.dims.info(s);
      returned.edit().sizes.push_back(infer.freshDim(size.name, size.origin));
      open.emplace(s, types.dims.symbol(returned->sizes.back()));
    }
  const TypeId result = types.substitute(returnType, open);
  infer.letDiffer(result);
  return result;
}

NodeId Body::checkReturn(const One& ret, Span span) {
  if (!mayReturn || builderDepth > 0) {
    sink.report(builderDepth > 0 ? DiagId::BuilderControl : DiagId::NoReturn, span, "return");
    return b.error(span);
  }
  std::vector<NodeId> children;
  TypeId type = types.unit(), wanted;
  if (ret.inner) {
    wanted = freshResult();
    NodeId value = checkExpr(ret.inner, wanted);
    type = b.typeOf(value);
    if (types.kind(type) == TypeKind::Never) return value; // never gets to return
    if (!wanted && returnType) wanted = freshResult(); // told by a `return` inside
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

} // namespace melix::check
