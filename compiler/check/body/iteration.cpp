#include "check/body/iteration.h"

#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"
#include "check/tree/protocols.h"

namespace melix::check {

using namespace syntax;

/// `iter` or `next` for a value: of this module and its imports, or of the home of its type.
std::optional<DeclId> Body::protocolFunction(NameId name, NodeId value, Span span) {
  std::vector<std::vector<DeclId>> layers = functionLayers(c, module, name);
  for (ModuleId home : homeModules(b.typeOf(value))) layers.push_back(functionsAtHome(c, home, name));
  std::vector<CallArg> args{{NameId::none(), SynId::none(), value, span}};
  for (const auto& layer : layers)
    if (auto chosen = layer.empty() ? std::nullopt : choose(name, layer, args, span, false)) return chosen;
  return std::nullopt;
}

namespace {

/// A loop by `iter` and `next`.
class Iteration {
public:
  Iteration(Body& body, Span at, Span span)
      : body_(body), types_(body.types), b_(body.b), at_(at), span_(span) {}
  NodeId loop(NodeId source, FunctionRef<PatternId(TypeId)> pattern, CheckRound round);

private:
  NodeId call(DeclId function, NodeId argument) {
    std::vector<CallArg> args{{NameId::none(), SynId::none(), argument, span_}};
    return body_.callDecl(function, args, nullptr, TypeId::none(), span_);
  }
  std::optional<DeclId> function(std::string_view name, NodeId value) {
    return body_.protocolFunction(types_.names.intern(name), value, span_);
  }
  NodeId notIterable(TypeId type, std::string hint = {}) {
    if (types_.kind(type) != TypeKind::Error)
      body_.sink.report(DiagId::NotIterable, at_, b_.show(type)).hint = std::move(hint);
    return b_.error(span_);
  }
  NodeId nextOf(NodeId it, TypeId source, bool hasIter);
  NodeId rounds(NodeId option, FunctionRef<PatternId(TypeId)> pattern, CheckRound round);

  Body& body_;
  TypeStore& types_;
  NodeBuilder& b_;
  Span at_, span_;
};

NodeId Iteration::loop(NodeId source, FunctionRef<PatternId(TypeId)> pattern, CheckRound round) {
  std::vector<NodeId> nodes;
  const TypeId type = b_.typeOf(source);
  NodeId it = source;
  auto iter = function(protocols::iter, source);
  if (iter) it = call(*iter, source);
  if (types_.holds(b_.typeOf(it), TypeKind::Error)) return b_.error(span_);
  LocalId held = b_.newLocal("it", b_.typeOf(it), span_, true);
  nodes.push_back(b_.let(held, it));
  NodeId option = nextOf(b_.local(held, span_), type, iter.has_value());
  if (b_.kindOf(option) == TypeKind::Error) return option;
  nodes.push_back(rounds(option, pattern, round));
  return b_.make(NodeKind::Block, types_.unit(), span_, std::move(nodes));
}

/// The call of `next`, an Option.
NodeId Iteration::nextOf(NodeId it, TypeId source, bool hasIter) {
  const std::string shown = b_.show(b_.typeOf(it));
  std::optional<DeclId> next = function(protocols::next, it);
  if (!hasIter && !next) return notIterable(source);
  if (!hasIter)
    return notIterable(source, "what is iterated has an `iter` too: `fn iter(x: " + shown + ") -> " + shown +
                                   " = x`");
  if (!next || !body_.c.declarations.function(*next).params[0].isInout)
    return notIterable(source, "what is iterated has a `next` that changes its iterator: `fn next(inout x: " +
                                   shown + ") -> Option[T]`");
  NodeId option = call(*next, it);
  if (body_.isPreludeEnum(b_.typeOf(option), "Option")) return option;
  return types_.kind(b_.typeOf(option)) == TypeKind::Error ? option : notIterable(source);
}

/// `loop { match option { Some(p) => round, _ => break } }`
NodeId Iteration::rounds(NodeId option, FunctionRef<PatternId(TypeId)> pattern, CheckRound round) {
  const TypeId type = b_.typeOf(option);
  LoopFrame frame;
  frame.id = static_cast<LoopId>(body_.instance.nodes.size());
  const size_t mark = body_.scope.size();
  Pattern some;
  some.kind = PatternKind::Case;
  some.type = type;
  some.span = at_;
  some.caseIndex = body_.caseNumber(type, "Some");
  some.subs = {pattern(types_.fieldType(type, some.caseIndex, 0))};
  body_.enterLoop(frame);
  NodeId repeated = round();
  body_.leaveLoop();
  body_.scope.leave(mark);
  Arm hit, miss;
  hit.pattern = body_.instance.patterns.add(some);
  hit.body = b_.block({repeated, b_.unit(span_)}, span_);
  miss.pattern = body_.anyPattern(type, span_);
  miss.body = b_.make(NodeKind::Break, types_.never(), span_, {}, check::Loop{frame.id});
  NodeId match = b_.make(NodeKind::Match, types_.unit(), span_, {option}, Arms{{hit, miss}, {}});
  return b_.make(NodeKind::Loop, types_.unit(), span_, {match}, check::Loop{frame.id});
}

} // namespace

NodeId iterate(Body& body, NodeId source, Span at, FunctionRef<PatternId(TypeId)> pattern, CheckRound round,
               Span span) {
  return Iteration(body, at, span).loop(source, pattern, round);
}

NodeId listOfIterator(Body& body, NodeId source, Span span) {
  NodeBuilder& b = body.b;
  LocalId out, element;
  TypeId list;
  auto pattern = [&](TypeId type) {
    list = body.types.list(type);
    out = b.newLocal("out", list, span, true);
    element = b.newLocal("x", type, span);
    return b.bindPattern(element, type, span);
  };
  auto push = [&] {
    NodeId pushed = b.make(NodeKind::Push, list, span, {b.local(out, span), b.local(element, span)});
    return b.make(NodeKind::Assign, body.types.unit(), span, {pushed}, Place{out, {}, list});
  };
  NodeId loop = iterate(body, source, span, pattern, push, span);
  if (b.kindOf(loop) == TypeKind::Error) return loop;
  return b.block({b.let(out, b.make(NodeKind::ListOf, list, span)), loop, b.local(out, span)}, span);
}

NodeId asList(Body& body, NodeId x, Span span) {
  TypeStore& types = body.types;
  const TypeId type = body.b.typeOf(x);
  if (types.kind(type) != TypeKind::Array) return x;
  std::vector<DimId> rest(types[type].dims.begin() + 1, types[type].dims.end());
  TypeId element = types.array(types.element(type), std::move(rest));
  return body.b.make(NodeKind::ToList, types.list(element), span, {x});
}

bool isWrongStep(Body& body, NodeId step, SynId written) {
  auto literal = body.b.literal(step);
  if (!literal || *literal > 0) return false;
  body.sink.report(DiagId::RangeStep, body.ast.span(written), std::to_string(*literal));
  return true;
}

NodeId positiveStep(Body& body, NodeId step, Span span) {
  NodeBuilder& b = body.b;
  NodeId positive = b.op(OpKind::Cmp, body.types.boolean(), {step, b.integer(0, span)}, span,
                         static_cast<uint32_t>(ops::CmpKind::Gt));
  return b.make(NodeKind::Assert, body.types.unit(), span, {positive},
                Const{.text = "the step of a range is positive"});
}

/// (last - first - sign) / step + 1, where the sign is that of the step.
DimId RangeValue::size(std::vector<NodeId>& before) const {
  NodeBuilder& b = body_.b;
  types::DimStore& dims = body_.types.dims;
  auto named = [&](std::string_view name, NodeId value) {
    return b.dimOf(b.local(b.bind(name, value, before), span_));
  };
  const DimId first = named("first", field(0)), last = named("last", field(1)),
              step = named("step", body_.callPrelude("step_of", {b.local(held_, span_)}, span_));
  const DimId sign = named("sign", body_.callPrelude("sign", {field(2)}, span_));
  return dims.add(dims.floorDiv(dims.sub(dims.sub(last, first), sign), step), dims.constant(1));
}

NodeId RangeValue::rounds() const {
  return body_.callPrelude("range_rounds", {body_.b.local(held_, span_)}, span_);
}

/// first + place * step
NodeId RangeValue::numberAt(NodeId place) const {
  NodeId offset = body_.b.op(OpKind::Mul, body_.types.int64(), {place, step()}, span_);
  return body_.b.op(OpKind::Add, body_.types.int64(), {first(), offset}, span_);
}

NodeId arrayOfRange(Body& body, NodeId range, Span span) {
  NodeBuilder& b = body.b;
  std::vector<NodeId> nodes;
  const RangeValue held(body, b.bind("range", range, nodes), span);
  const DimId size = held.size(nodes);
  nodes.push_back(b.collect(
      {size}, span, [&](const std::vector<LocalId>& k) { return held.numberAt(b.local(k[0], span)); }));
  return b.block(std::move(nodes), span);
}

} // namespace melix::check
