// Changing what is inside of a value where it is (rule 14): `for &x in xs`, `match &t`, elements of arrays
// that hide their size, slices of slices.
#include "check/body/dicts.h"
#include "support/function_ref.h"

namespace melix::check {

using namespace syntax;

NodeId Body::readLocal(LocalId local, Span span) {
  auto alias = aliases.find(local);
  return alias == aliases.end() ? b.local(local, span) : readPlace(alias->second, span);
}

namespace {

/// Whether two places of one variable part at different fields.
bool apart(const Place& a, const Place& b) {
  for (size_t k = 0; k < a.steps.size() && k < b.steps.size(); ++k) {
    if (a.steps[k].kind != b.steps[k].kind) return false;
    if (a.steps[k].kind == StepKind::Field && a.steps[k].number != b.steps[k].number) return true;
  }
  return false;
}

} // namespace

/// Whether `place` may change here, where names may be bound to parts of it.
bool Body::mayChange(const Place& place, SynId node) {
  for (size_t k = 0; k < holds.size(); ++k) {
    Hold& hold = holds.edit(k);
    hold.partsChange |= std::find(hold.names.begin(), hold.names.end(), place.root) != hold.names.end();
    if (hold.place.root != place.root || apart(hold.place, place)) continue;
    if (!hold.walked) {
      hold.wholeChanges.push_back(node);
    } else if (place.steps.size() <= hold.place.steps.size()) {
      sink.report(DiagId::PlaceHeld, ast.span(node), c.modules.sources.text(ast.span(node)));
      return false;
    }
  }
  return true;
}

/// The end of an arm of `match &place`; false after a message.
bool Body::endHold() {
  const Hold hold = holds.back();
  holds.pop_back();
  if (!hold.partsChange || hold.wholeChanges.empty()) return true;
  Span span = ast.span(hold.wholeChanges[0]);
  sink.report(DiagId::PlaceHeld, span, c.modules.sources.text(span));
  return false;
}

/// Whether what is inside of a place can only be changed in a variable of its own: the steps of a bracket
/// speak of the axes of one array, and no step goes into a value that hides its sizes.
bool Body::needsOpening(const Place& place) {
  if (types.kind(infer.zonk(place.type)) == TypeKind::Pack) return true;
  for (size_t k = place.steps.size(); k-- > 0;) {
    StepKind kind = place.steps[k].kind;
    if (kind == StepKind::Field || kind == StepKind::Element) return false;
    if (kind != StepKind::Index) return true;
  }
  return false;
}

void Body::openTarget(Target& target, Span span) {
  Gathers none;
  target.key = NodeId::none();
  pinSteps(target.place.steps, none, target.before);
  Place seen = target.place; // read before anything is taken out
  if (!target.openings.empty()) {
    Opening& outer = target.openings.back();
    if (!outer.seen) outer.seen = b.bind("seen", outer.value, target.before);
    seen.root = outer.seen;
  }
  Opening made;
  made.value = unpacked(readPlace(seen, span), span);
  TypeId type = b.typeOf(made.value);
  if (instance.nodes[made.value].kind == NodeKind::Unpack) {
    made.seen = b.newLocal("seen", type, span);
    PatternId named = b.bindPattern(made.seen, type, span);
    target.before.push_back(b.make(NodeKind::Let, types.unit(), span, {made.value}, PatternRef{named}));
  }
  LocalId local = b.newLocal("part", type, span, true);
  made.within = {std::move(target.place), local};
  target.openings.push_back(std::move(made));
  target.place = {local, {}, type};
}

NodeId Body::insideOf(const std::vector<Opening>& openings, NodeId statement, Span span) {
  for (size_t k = openings.size(); k-- > 0;)
    statement = b.make(NodeKind::Within, b.typeOf(statement), span, {statement}, openings[k].within);
  return statement;
}

/// `nodes`, then `statement` on the variables of the target's openings.
NodeId Body::finishTarget(const Target& target, std::vector<NodeId> nodes, NodeId statement, Span span) {
  statement = insideOf(target.openings, statement, span);
  nodes.insert(nodes.begin(), target.before.begin(), target.before.end());
  nodes.push_back(statement);
  return b.block(std::move(nodes), span);
}

/// Evaluates the indices of a target and the value that it takes: inside of an opening nothing else happens,
/// nor between a key's search and the change of its value.
std::vector<NodeId> Body::pinTarget(Target& target, NodeId& value) {
  std::vector<NodeId> nodes;
  if (target.openings.empty() && !holdsLate(target.place.steps)) return nodes;
  Gathers none;
  pinSteps(target.place.steps, none, nodes);
  value = pinned(value, "v", nodes);
  return nodes;
}

/// `target = value` or `target op= value`.
NodeId Body::assignTo(Target target, const BinaryOp* op, NodeId value, Span span) {
  std::vector<NodeId> nodes = pinTarget(target, value);
  NodeId statement = !op && insertsKey(target) ? insertAtKey(*this, target, value, span)
                                               : assignOrUpdate(target.place, op, value, span);
  if (b.kindOf(statement) == TypeKind::Error) return statement;
  return finishTarget(target, std::move(nodes), statement, span);
}

NodeId Body::updateTarget(Target target, NodeId value, FunctionRef<NodeId(NodeId, NodeId)> next, Span span) {
  std::vector<NodeId> nodes = pinTarget(target, value);
  NodeId statement = update(target.place, value, next, span);
  return b.kindOf(statement) == TypeKind::Error ? statement
                                                : finishTarget(target, std::move(nodes), statement, span);
}

/// `match &place`: names bound in an arm are variables that are written back to the place when the arm is
/// left.
NodeId Body::matchPlace(const syntax::Match& node, Span span, TypeId expected) {
  Target target;
  if (!checkPlaceTarget(ast[node.scrutinee].as<One>().inner, target)) return b.error(span);
  if (types.kind(infer.zonk(target.place.type)) == TypeKind::Pack) openTarget(target, span);
  Gathers none;
  pinSteps(target.place.steps, none, target.before);
  NodeId value = readPlace(target.place, ast.span(node.scrutinee));
  if (b.kindOf(value) == TypeKind::Error) return value;
  NodeId made = matchArms(node, value, {target.place}, span, expected);
  return b.kindOf(made) == TypeKind::Error ? made : finishTarget(target, {}, made, span);
}

} // namespace melix::check
