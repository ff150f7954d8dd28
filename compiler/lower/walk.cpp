// What a part of the typed tree assigns, whether control leaves it.
#include "lower/body.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

/// The sizes that the body defines, and those that its types mention.
void BodyLowering::collectSizes() {
  std::vector<DimSym> used;
  for (const Node& node : instance_.nodes) collectSymbols(node, types_, used);
  for (const Local& local : instance_.locals) types_.collectSymbols(local.type, used);
  for (const Pattern& pattern : instance_.patterns) types_.collectSymbols(pattern.type, used);
  types_.collectSymbols(instance_.result, used);
  usedSizes_.insert(used.begin(), used.end());
  Names defined;
  collectDefined(instance_, instance_.body, defined);
  ownSizes_ = std::move(defined.sizes);
  for (const Local& local : instance_.locals)
    if (local.asDim) ownSizes_.insert(local.asDim);
}

std::set<LocalId> BodyLowering::assignedIn(const std::vector<NodeId>& nodes) {
  std::set<LocalId> roots;
  for (NodeId n : nodes) collectChanged(instance_, n, roots);
  std::set<LocalId> outer;
  for (LocalId l : roots)
    if (values_.contains(l)) outer.insert(l);
  return outer;
}

/// Whether a loop over `body` may end before its range does: by break, by return, or for an outer loop.
bool BodyLowering::leavesEarly(NodeId body, uint32_t loop) {
  if (exitsIn(body, true, {loop})) return true;
  bool breaks = false;
  forEachNode(instance_, body, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    breaks |= node.kind == NodeKind::Break && node.as<check::Loop>().loop == loop;
  });
  return breaks;
}

/// Whether control may leave `n` by return, or by a break or continue of a loop outside of it.
bool BodyLowering::exitsIn(NodeId n, bool onlyOutside, std::set<uint32_t> inside) {
  const Node& node = instance_.nodes[n];
  if (node.kind == NodeKind::Return) return true;
  if (node.kind == NodeKind::Break || node.kind == NodeKind::Continue)
    return !onlyOutside || !inside.contains(node.as<check::Loop>().loop);
  if (node.kind == NodeKind::While || node.kind == NodeKind::Loop) inside.insert(node.as<check::Loop>().loop);
  if (node.kind == NodeKind::For) inside.insert(node.as<check::For>().loop);
  bool found = false;
  forEachChild(node, [&](NodeId child) { found = found || exitsIn(child, onlyOutside, inside); });
  return found;
}

} // namespace melix::lower
