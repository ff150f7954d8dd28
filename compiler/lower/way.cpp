// The way through a builder's body to a part of it, lowered on its own: once to find the points that reach
// the part, and once to compute the part where nothing else of the body runs.
#include "lower/body.h"
#include "lower/call.h"
#include "lower/control.h"
#include "lower/hoist.h"
#include "lower/loops.h"
#include "lower/match.h"
#include "lower/nest.h"
#include "lower/sizes.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

namespace {

/// The conditions between a node and one of its children, and the siblings that run before the child.
struct Turn {
  std::vector<NodeId> gate, earlier;
  bool lost = false; ///< no way leads there
};

Turn turnAt(BodyLowering& fn, NodeId n, NodeId next) {
  const Node& node = fn.instance.nodes[n];
  const std::vector<NodeId>& children = node.children;
  Turn turn;
  switch (node.kind) {
  case NodeKind::If:
    if (next != children[0]) turn.gate = {children[0]};
    return turn;
  case NodeKind::ShortAnd:
  case NodeKind::ShortOr:
  case NodeKind::While:
    if (next == children[1]) turn.gate = {children[0]};
    return turn;
  case NodeKind::Nest:
    if (next == children[0] && node.as<Nest>().filtered) turn.gate = {children[1]};
    turn.lost = node.as<Nest>().reduction == core::MonoidKind::Combine && next == children.back();
    return turn;
  case NodeKind::For:
    if (next == children.back())
      turn.gate.assign(children.begin(), children.end() - 1);
    else
      turn.earlier.assign(children.begin(), std::find(children.begin(), children.end(), next));
    return turn;
  case NodeKind::Match:
    if (next == children[0]) return turn;
    turn.gate = {children[0]};
    turn.lost = !node.as<Arms>().places.empty();
    for (const check::Arm& arm : node.as<Arms>().arms) {
      turn.lost |= arm.guard == next;
      if (arm.guard.valid()) turn.gate.push_back(arm.guard);
    }
    return turn;
  case NodeKind::Within:
  case NodeKind::Scatter: turn.lost = true; return turn;
  default: break;
  }
  bool reached = false;
  forEachChild(node, [&](NodeId child) {
    reached |= child == next;
    if (!reached) turn.earlier.push_back(child);
  });
  turn.lost = node.kind == NodeKind::Let && next != children[0];
  return turn;
}

void addPiece(BodyLowering& fn, Way& way, size_t depth, NodeId piece, Names& reads) {
  way.pieces.emplace_back(depth, piece);
  way.needs.join(needs(fn, piece));
  way.exits |= exitsIn(fn.instance, piece);
  collectRead(fn.instance, fn.types, piece, reads);
}

/// Whether the way leads to what a sweep runs at its points, of which axes are open.
bool isIntoOpen(const BodyLowering& fn, NodeId n, NodeId next) {
  const Node& node = fn.instance.nodes[n];
  if (node.kind != NodeKind::Nest) return false;
  const std::vector<NestAxis>& axes = node.as<Nest>().axes;
  if (std::none_of(axes.begin(), axes.end(),
                   [&](const NestAxis& axis) { return fn.hoisting.sweep.isOpen(axis); }))
    return false;
  return next == node.children[0] || (node.as<Nest>().filtered && next == node.children[1]);
}

/// Goes on in the arm whose body is `next`. Where guards are skipped, some point is known to reach the arm:
/// it is the first to be tried.
ValueId throughArm(BodyLowering& fn, const Way& way, Node node, const Turn& turn, NodeId next) {
  std::vector<check::Arm>& arms = node.as<Arms>().arms;
  if (std::any_of(turn.gate.begin(), turn.gate.end(), [&](NodeId gate) { return !way.runs(gate); })) {
    for (check::Arm& arm : arms) arm.guard = NodeId::none();
    std::stable_partition(arms.begin(), arms.end(), [&](const check::Arm& arm) { return arm.body == next; });
  }
  for (const check::Arm& arm : arms)
    if (arm.body != next) fn.hoisting.instead[arm.body] = way.elsewhere;
  node.type = way.type;
  node.resultDims.clear();
  ValueId value = lowerMatch(fn, node);
  for (const check::Arm& arm : arms)
    if (arm.body != next) fn.hoisting.instead.erase(arm.body);
  return value;
}

/// Goes on at `next` once the condition before it holds.
ValueId through(BodyLowering& fn, const Way& way, NodeId n, const Turn& turn, NodeId next) {
  const Node& node = fn.instance.nodes[n];
  Make on = [&] { return fn.expr(next); };
  auto when = [&](ValueId condition, bool wanted) {
    return branches(fn, Builder::simple(OpKind::If, {condition}),
                    {[&](RegionId) { return wanted ? on() : way.elsewhere(); },
                     [&](RegionId) { return wanted ? way.elsewhere() : on(); }},
                    way.type, {});
  };
  if (node.kind == NodeKind::Match) return throughArm(fn, way, node, turn, next);
  return fn.after(turn.gate, way.type, [&](std::vector<ValueId> v) {
    if (node.kind == NodeKind::For)
      return when(fn.b.compare(ops::CmpKind::Gt, counted(fn, v).count, fn.b.integer(0)), true);
    bool otherwise = node.kind == NodeKind::If && node.children.size() > 2 && next == node.children[2];
    return when(v[0], !otherwise && node.kind != NodeKind::ShortOr);
  });
}

/// Whether at some point of the open axes of a sweep `body` gives true. Their sizes are checked where it
/// runs.
ValueId anyPoint(BodyLowering& fn, const Nest& ref, const Make& body) {
  core::NestBuilder made(fn.b);
  std::vector<std::pair<LocalId, DimId>> open;
  for (const NestAxis& axis : ref.axes) {
    if (!fn.hoisting.sweep.isOpen(axis)) continue;
    const DimId d = fn.D(axis.extent);
    checkDivisors(fn, d);
    open.emplace_back(axis.index,
                      fn.types.dims.atLeast(d, 0) ? d : fn.types.dims.max(d, fn.types.dims.constant(0)));
  }
  ValueId found;
  inRegion(fn, made.body(), [&] {
    for (const auto& [index, extent] : open) axisParam(fn, made, extent, index);
    found = body();
  });
  made.add(core::reducing(core::MonoidKind::Or), found);
  return made.one();
}

ValueId alongNode(BodyLowering& fn, const Way& way, size_t k) {
  NodeId n = way.nodes[k], next = way.nodes[k + 1];
  const Turn turn = turnAt(fn, n, next);
  fn.hoisting.instead[next] = [&fn, &way, k] { return along(fn, way, k + 1); };
  ValueId value;
  if (!turn.gate.empty() && way.runs(turn.gate[0])) {
    value = through(fn, way, n, turn, next);
  } else {
    std::vector<NodeId> run;
    for (NodeId piece : turn.earlier)
      if (way.runs(piece)) run.push_back(piece);
    run.push_back(next);
    value = blockFrom(fn, run, 0, way.type);
  }
  fn.hoisting.instead.erase(next);
  return value;
}

} // namespace

bool Way::runs(NodeId n) const {
  return std::any_of(pieces.begin(), pieces.end(), [&](const auto& piece) { return piece.second == n; });
}

/// The way to the last of `nodes`. With `axes`: for independent of these only, as far as they tell;
/// conditions that need more are skipped. Without: what decides whether a point reaches the end.
std::optional<Way> wayTo(BodyLowering& fn, const std::vector<NodeId>& nodes, std::optional<uint64_t> axes) {
  Way way;
  way.nodes = nodes;
  way.searches = !axes;
  Names reads;
  if (axes) collectRead(fn.instance, fn.types, nodes.back(), reads);
  auto told = [&](NodeId n) { return !axes || needs(fn, n).within(*axes); };
  for (size_t k = nodes.size() - 1; k-- > 0;) {
    const Turn turn = turnAt(fn, nodes[k], nodes[k + 1]);
    if (turn.lost) return std::nullopt;
    const Node& node = fn.instance.nodes[nodes[k]];
    bool loop = node.kind == NodeKind::For || node.kind == NodeKind::While || node.kind == NodeKind::Loop;
    // Of a loop the first iteration is known only as far as it does not depend on the loop.
    if (loop && nodes[k + 1] == node.children.back() && (way.needs.own || way.exits)) return std::nullopt;
    if (std::all_of(turn.gate.begin(), turn.gate.end(), told)) {
      for (NodeId gate : turn.gate) addPiece(fn, way, k, gate, reads);
    } else {
      way.skips = true;
      // The names of an arm come from what is matched; guards of arms are skipped.
      if (node.kind == NodeKind::Match && told(turn.gate[0])) addPiece(fn, way, k, turn.gate[0], reads);
    }
    if (isIntoOpen(fn, nodes[k], nodes[k + 1])) {
      if (way.exits) return std::nullopt;
      way.skips = true;
      if (way.searches) {
        addSizes(fn, node.as<Nest>().axes, reads);
        way.needs.join(needsOf(fn, node.as<Nest>().axes));
      }
    }
    for (size_t s = turn.earlier.size(); s-- > 0;) {
      NodeId piece = turn.earlier[s];
      Names given;
      collectChanged(fn.instance, piece, given.locals);
      if (fn.instance.nodes[piece].kind == NodeKind::Let) collectDefined(fn.instance, piece, given);
      if (given.meets(reads) || (stops(fn, piece) && told(piece)))
        addPiece(fn, way, k, piece, reads);
      else
        way.skips |= stops(fn, piece);
    }
  }
  return way;
}

/// What `there` gives at the end of the way from its node `k`, or `elsewhere` where the point does not get
/// there.
ValueId along(BodyLowering& fn, const Way& way, size_t k) {
  if (k + 1 == way.nodes.size()) return way.there();
  if (!way.searches || !isIntoOpen(fn, way.nodes[k], way.nodes[k + 1])) return alongNode(fn, way, k);
  return anyPoint(fn, fn.instance.nodes[way.nodes[k]].as<Nest>(), [&] { return alongNode(fn, way, k); });
}

} // namespace melix::lower
