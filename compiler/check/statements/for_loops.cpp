// `for`: over ranges, arrays, Lists and what is iterated, with names for elements or for places.
#include "check/body/dicts.h"
#include "check/body/iteration.h"
#include "check/body/loops.h"

namespace melix::check {

using namespace syntax;

namespace {

/// Each head is a loop around those after it; `break` ends them all, `continue` one round of the innermost.
class ForLoop {
public:
  ForLoop(Body& body, const syntax::For& loop, Span span)
      : body_(body), ast_(body.ast), types_(body.types), b_(body.b), loop_(loop), span_(span) {}
  NodeId check() { return overHead(0); }

private:
  using ElementAt = FunctionRef<NodeId(LocalId)>; ///< the element at a place

  const ForHead& head(size_t k) const { return loop_.heads[k]; }
  Span spanOfSource(size_t k) const { return ast_.span(head(k).range); }
  PatternId pattern(size_t k, TypeId element);
  NodeId overHead(size_t k);
  NodeId round(size_t k);
  NodeId innermost();
  NodeId roundOf(size_t k, LoopId loop);

  NodeId overRange(size_t k, const syntax::Range& range);
  bool isWhole(TypeId type);
  bool bounds(const syntax::Range& range, std::vector<NodeId>& nodes);
  bool declareIndex(size_t k, TypeId type, check::For& payload);
  NodeId overRangeValue(size_t k, NodeId range);
  NodeId overElements(size_t k, NodeId xs);
  NodeId overPlaces(size_t k, NodeId length, ElementAt elementAt);
  NodeId byPlace(size_t k);
  NodeId walked(size_t k, Target& target);
  bool bindAliases(SynId pattern, Place place);
  std::optional<std::vector<SynId>> partsOf(const SynNode& pattern, TypeId type);

  Body& body_;
  const Ast& ast_;
  TypeStore& types_;
  NodeBuilder& b_;
  const syntax::For& loop_;
  Span span_;
};

/// What is repeated for each element of head `k`: the loop over the next, or the body.
NodeId ForLoop::round(size_t k) {
  const TrailedVector<LoopFrame>& frames = body_.loops;
  if (k > 0) body_.loops.editBack().leaves = frames[frames.size() - 2].leaves;
  return k + 1 < loop_.heads.size() ? overHead(k + 1) : innermost();
}

NodeId ForLoop::innermost() {
  NodeId filter = loop_.filter ? body_.checkBoolean(loop_.filter, "a filter") : NodeId::none();
  body_.conditions += filter.valid();
  NodeId repeated = body_.dropped(body_.checkExpr(loop_.body), loop_.body);
  body_.conditions -= filter.valid();
  if (!filter.valid()) return repeated;
  return b_.make(NodeKind::If, types_.unit(), ast_.span(loop_.body), {filter, repeated});
}

/// The same in the loop that it belongs to.
NodeId ForLoop::roundOf(size_t k, LoopId loop) {
  LoopFrame frame;
  frame.id = loop;
  body_.enterLoop(frame);
  NodeId repeated = round(k);
  body_.leaveLoop();
  return repeated;
}

NodeId ForLoop::overHead(size_t k) {
  if (head(k).byPlace) return byPlace(k);
  const SynId source = head(k).range;
  if (ast_.kind(source) == SynKind::Range) return overRange(k, ast_[source].as<syntax::Range>());
  NodeId xs = iteratedList(body_, body_.unpacked(body_.checkExpr(source), ast_.span(source)), span_);
  const TypeKind kind = b_.kindOf(xs);
  if (kind == TypeKind::Error || kind == TypeKind::Never) return xs;
  if (body_.isRange(b_.typeOf(xs))) return overRangeValue(k, xs);
  if (kind == TypeKind::Array || kind == TypeKind::List) return overElements(k, xs);
  return iterate(
      body_, xs, ast_.span(source), [&](TypeId element) { return pattern(k, element); },
      [&] { return round(k); }, span_);
}

PatternId ForLoop::pattern(size_t k, TypeId element) {
  bool refutable = false;
  PatternId made = body_.checkPattern(head(k).pattern, element, false, refutable);
  if (refutable) body_.sink.report(DiagId::Refutable, ast_.span(head(k).pattern));
  return made;
}

NodeId ForLoop::overRange(size_t k, const syntax::Range& range) {
  std::vector<NodeId> nodes;
  if (!bounds(range, nodes)) return nodes.empty() ? b_.error(span_) : b_.block(std::move(nodes), span_);
  const TypeId type = b_.typeOf(nodes[0]);
  if (range.step) {
    nodes.push_back(body_.coerce(body_.checkExpr(range.step, type), type, span_));
    if (isWrongStep(body_, nodes.back(), range.step)) return b_.error(span_);
  }
  const size_t mark = body_.scope.size();
  check::For payload;
  payload.loop = static_cast<LoopId>(body_.instance.nodes.size());
  if (!declareIndex(k, type, payload)) return b_.error(span_);
  nodes.push_back(roundOf(k, payload.loop));
  body_.scope.leave(mark);
  return b_.make(NodeKind::For, types_.unit(), span_, std::move(nodes), payload);
}

bool ForLoop::isWhole(TypeId type) {
  const TypeId t = body_.infer.shallow(type);
  return types_.isInt(t) || (body_.infer.isOpen(t) && body_.infer.varClass(t) == types::VarClass::OpenInt);
}

/// The ends of a range, which mix like operands; the index has their type. False after a message, or with
/// what is evaluated up to where it never goes on.
bool ForLoop::bounds(const syntax::Range& range, std::vector<NodeId>& nodes) {
  NodeId first = body_.checkExpr(range.first);
  if (!range.last) {
    body_.sink.report(DiagId::RangeNeeded, span_, "this loop");
    return false;
  }
  NodeId last = body_.checkExpr(range.last);
  const bool stops = b_.kindOf(first) == TypeKind::Never;
  if (stops || b_.kindOf(last) == TypeKind::Never) {
    nodes = stops ? std::vector{first} : std::vector{first, last};
    return false;
  }
  const NodeId wrong = isWhole(b_.typeOf(last)) ? first : last;
  const TypeId type = b_.typeOf(b_.binary(BinaryKind::Add, first, last, span_));
  if (types_.kind(type) == TypeKind::Error) return false;
  if (!isWhole(type)) {
    if (!b_.lacks(type, "Int", "a range", span_))
      body_.sink.report(DiagId::IndexType, b_.spanOf(wrong), b_.show(b_.typeOf(wrong))).hint =
          "the ends of a range are integers";
    return false;
  }
  nodes = {b_.convert(first, type, b_.spanOf(first)), b_.convert(last, type, b_.spanOf(last))};
  return true;
}

bool ForLoop::declareIndex(size_t k, TypeId type, check::For& payload) {
  const SynId written = head(k).pattern;
  const Span at = ast_.span(written);
  if (ast_.kind(written) == SynKind::Name)
    payload.index = body_.declareLocal(ast_[written].as<Name>().name, type, at, false);
  if (payload.index)
    body_.used.insert(payload.index); // it may but count the rounds
  else if (ast_.kind(written) == SynKind::Underscore)
    payload.index = b_.newLocal("_", type, span_);
  else
    body_.sink.report(DiagId::PatternType, at, "int");
  return payload.index.valid();
}

NodeId ForLoop::overRangeValue(size_t k, NodeId range) {
  std::vector<NodeId> nodes;
  const RangeValue held(body_, b_.bind("range", range, nodes), span_);
  auto number = [&](LocalId place) { return held.numberAt(b_.local(place, span_)); };
  nodes.push_back(overPlaces(k, held.rounds(), number));
  return b_.block(std::move(nodes), span_);
}

/// Over the first axis of an array, or a list: the elements are copies, the length is read once.
NodeId ForLoop::overElements(size_t k, NodeId xs) {
  std::vector<NodeId> nodes;
  LocalId held = b_.bind("xs", xs, nodes);
  const TypeId type = b_.typeOf(xs);
  const bool isList = types_.kind(type) == TypeKind::List;
  NodeId length = isList ? b_.make(NodeKind::Length, types_.int64(), span_, {b_.local(held, span_)})
                         : b_.dimValue(b_.dimsOf(type)[0], span_);
  auto element = [&](LocalId place) {
    if (!isList) return b_.at(b_.local(held, span_), {place}, span_);
    Steps steps{{Step{StepKind::Element, 0, b_.local(place, span_), {}, {}, 1, span_}}};
    return b_.make(NodeKind::Get, types_[type].parts[0], span_, {b_.local(held, span_)}, std::move(steps));
  };
  nodes.push_back(overPlaces(k, length, element));
  return b_.make(NodeKind::Block, types_.unit(), span_, std::move(nodes));
}

/// `for place in 0..length { let pattern = element(place); … }`
NodeId ForLoop::overPlaces(size_t k, NodeId length, ElementAt elementAt) {
  check::For payload;
  payload.loop = static_cast<LoopId>(body_.instance.nodes.size());
  payload.index = b_.newLocal("k", types_.int64(), span_);
  const size_t mark = body_.scope.size();
  NodeId element = elementAt(payload.index);
  const PatternId bound = pattern(k, b_.typeOf(element));
  NodeId repeated = roundOf(k, payload.loop);
  body_.scope.leave(mark);
  NodeId let = b_.make(NodeKind::Let, types_.unit(), span_, {element}, PatternRef{bound});
  NodeId whole = b_.make(NodeKind::Block, types_.unit(), span_, {let, repeated, b_.unit(span_)});
  return b_.make(NodeKind::For, types_.unit(), span_, {b_.integer(0, span_), length, whole}, payload);
}

/// `for &x in place`: over the elements of an array or a List where they are. The length is read once.
NodeId ForLoop::byPlace(size_t k) {
  const SynId source = head(k).range;
  if (ast_.kind(source) == SynKind::Range) {
    body_.sink.report(DiagId::NotWalked, ast_.span(source), body_.c.modules.sources.text(ast_.span(source)));
    return b_.error(span_);
  }
  Target target;
  if (!body_.checkPlaceTarget(source, target)) return b_.error(span_);
  if (body_.needsOpening(target.place)) body_.openTarget(target, span_);
  Gathers none;
  body_.pinSteps(target.place.steps, none, target.before);
  NodeId made = walked(k, target);
  return b_.kindOf(made) == TypeKind::Error ? made : body_.finishTarget(target, {}, made, span_);
}

NodeId ForLoop::walked(size_t k, Target& target) {
  const TypeId type = body_.infer.zonk(target.place.type);
  const bool isList = types_.kind(type) == TypeKind::List;
  if (!isList && types_.kind(type) != TypeKind::Array) {
    if (types_.kind(type) != TypeKind::Error)
      body_.sink.report(DiagId::NotWalked, spanOfSource(k), b_.show(type));
    return b_.error(span_);
  }
  NodeId length =
      isList ? b_.make(NodeKind::Length, types_.int64(), span_, {body_.readPlace(target.place, span_)})
             : b_.dimValue(b_.dimsOf(type)[0], span_);
  check::For payload;
  payload.loop = static_cast<LoopId>(body_.instance.nodes.size());
  payload.index = b_.newLocal("k", types_.int64(), span_);
  Place element = target.place;
  element.steps.push_back(
      {isList ? StepKind::Element : StepKind::Index, 0, b_.local(payload.index, span_), {}, {}, 1, span_});
  std::vector<DimId> rest = b_.dimsOf(type);
  if (!isList) rest.erase(rest.begin());
  element.type = isList ? types_[type].parts[0] : types_.array(types_.element(type), std::move(rest));
  const size_t mark = body_.scope.size();
  if (!bindAliases(head(k).pattern, std::move(element))) {
    body_.scope.leave(mark);
    return b_.error(span_);
  }
  body_.holds.push_back({target.place, true, {}, false, {}});
  NodeId repeated = roundOf(k, payload.loop);
  body_.holds.pop_back();
  body_.scope.leave(mark);
  return b_.make(NodeKind::For, types_.unit(), span_, {b_.integer(0, span_), length, repeated}, payload);
}

/// The patterns of the parts of a tuple or a struct; none of any other pattern, or after a message.
std::optional<std::vector<SynId>> ForLoop::partsOf(const SynNode& pattern, TypeId type) {
  if (pattern.kind == SynKind::Tuple && types_.kind(type) == TypeKind::Tuple &&
      pattern.as<Many>().items.size() == types_[type].parts.size())
    return pattern.as<Many>().items;
  uint32_t only = 0;
  if (pattern.kind == SynKind::CasePattern && types_.kind(type) == TypeKind::Struct &&
      body_.caseOf(pattern.as<CasePattern>().path, type, only))
    return body_.caseFields(pattern.as<CasePattern>(), type, 0, pattern.span);
  if (types_.kind(type) != TypeKind::Error)
    body_.sink.report(DiagId::PatternType, pattern.span, b_.show(type));
  return std::nullopt;
}

/// Binds the names of a `for &pattern` to parts of `place`.
bool ForLoop::bindAliases(SynId pattern, Place place) {
  const SynNode& n = ast_[pattern];
  const TypeId type = body_.infer.zonk(place.type);
  if (n.kind == SynKind::Paren) return bindAliases(n.as<One>().inner, std::move(place));
  if (n.kind == SynKind::Underscore) return true;
  if (n.kind == SynKind::Name) {
    LocalId local = body_.declareLocal(n.as<Name>().name, type, n.span, true);
    body_.aliases.add(local, std::move(place));
    return true;
  }
  const auto parts = partsOf(n, type);
  for (uint32_t k = 0; parts && k < parts->size(); ++k) {
    const SynId written = (*parts)[k];
    if (!written) continue;
    Place part = place;
    part.steps.push_back({StepKind::Field, k, {}, {}, {}, 1, ast_.span(written)});
    part.type = types_.kind(type) == TypeKind::Tuple ? types_[type].parts[k] : types_.fieldType(type, 0, k);
    if (!bindAliases(written, std::move(part))) return false;
  }
  return parts.has_value();
}

} // namespace

NodeId checkFor(Body& body, const syntax::For& loop, Span span) { return ForLoop(body, loop, span).check(); }

} // namespace melix::check
