#include "lower/exits.h"

#include "check/tree/typed_walk.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

bool exitsIn(const Instance& instance, NodeId n, std::set<uint32_t> inside) {
  const Node& node = instance.nodes[n];
  if (node.kind == NodeKind::Return) return true;
  if (node.kind == NodeKind::Break || node.kind == NodeKind::Continue)
    return !inside.contains(node.as<Loop>().loop);
  if (node.kind == NodeKind::While || node.kind == NodeKind::Loop) inside.insert(node.as<Loop>().loop);
  if (node.kind == NodeKind::For) inside.insert(node.as<For>().loop);
  bool found = false;
  forEachChild(node, [&](NodeId child) { found = found || exitsIn(instance, child, inside); });
  return found;
}

bool leavesEarly(const Instance& instance, NodeId body, uint32_t loop) {
  if (exitsIn(instance, body, {loop})) return true;
  bool breaks = false;
  forEachNode(instance, body, [&](NodeId k) {
    const Node& node = instance.nodes[k];
    breaks |= node.kind == NodeKind::Break && node.as<Loop>().loop == loop;
  });
  return breaks;
}

bool jumpsInLoops(const Instance& instance) {
  bool found = false;
  forEachNode(instance, instance.body, [&](NodeId n) {
    const NodeKind kind = instance.nodes[n].kind;
    found |= kind == NodeKind::Break || kind == NodeKind::Continue;
  });
  return found;
}

/// Whether it is an `if` whose arms that return do not go on, and return at their ends.
static bool isGuard(const Instance& instance, const types::TypeStore& types, NodeId n) {
  const Node& node = instance.nodes[n];
  if (node.kind != NodeKind::If || exitsIn(instance, node.children[0])) return false;
  return std::all_of(node.children.begin() + 1, node.children.end(), [&](NodeId arm) {
    const bool goesOn = types.kind(instance.nodes[arm].type) != types::TypeKind::Never;
    return !exitsIn(instance, arm) || (!goesOn && returnsAtEnds(instance, types, arm));
  });
}

bool returnsAtEnds(const Instance& instance, const types::TypeStore& types, NodeId n) {
  if (!exitsIn(instance, n)) return true;
  const Node& node = instance.nodes[n];
  auto ends = [&](NodeId child) { return returnsAtEnds(instance, types, child); };
  auto goesOn = [&](NodeId child) { return !exitsIn(instance, child) || isGuard(instance, types, child); };
  const auto& children = node.children;
  switch (node.kind) {
  case NodeKind::Return: return std::all_of(children.begin(), children.end(), ends);
  case NodeKind::If:
    return !exitsIn(instance, children[0]) && std::all_of(children.begin() + 1, children.end(), ends);
  case NodeKind::Block:
    return std::all_of(children.begin(), children.end() - 1, goesOn) && ends(children.back());
  default: return false;
  }
}

} // namespace melix::lower
