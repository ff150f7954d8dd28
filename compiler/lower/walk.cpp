// Walking the typed tree: what a part of it assigns, whether control leaves it.
#include "lower/body.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

void BodyLowering::childrenOf(NodeId n, const std::function<void(NodeId)>& f) {
  const Node& node = instance_.nodes[n];
  for (NodeId child : node.children) f(child);
  auto steps = [&](const std::vector<Step>& list) {
    for (const Step& s : list) {
      if (s.index.valid()) f(s.index);
      if (s.end.valid()) f(s.end);
    }
  };
  if (auto* p = std::get_if<Steps>(&node.payload))
    steps(p->steps);
  else if (auto* place = std::get_if<Place>(&node.payload))
    steps(place->steps);
  else if (auto* update = std::get_if<Update>(&node.payload))
    steps(update->place.steps);
  else if (auto* within = std::get_if<Within>(&node.payload))
    steps(within->place.steps);
  else if (auto* target = std::get_if<CallTarget>(&node.payload)) {
    for (const InoutArg& arg : target->inouts) steps(arg.place.steps);
  } else if (auto* arms = std::get_if<Arms>(&node.payload)) {
    for (const Place& matched : arms->places) steps(matched.steps);
    for (const check::Arm& arm : arms->arms) {
      if (arm.guard.valid()) f(arm.guard);
      f(arm.body);
    }
  }
}

void BodyLowering::visit(NodeId n, const std::function<void(NodeId)>& f) {
  f(n);
  childrenOf(n, [&](NodeId child) { visit(child, f); });
}

/// The dimension symbols that the type of one node and its payload mention.
void BodyLowering::symbolsOf(const Node& node, std::vector<DimSym>& used) {
  auto dim = [&](DimId d) {
    if (d) types_.dims.collectSymbols(d, used);
  };
  auto dims = [&](const std::vector<DimId>& list) { std::for_each(list.begin(), list.end(), dim); };
  auto steps = [&](const std::vector<Step>& list) {
    for (const Step& s : list) dim(s.length);
  };
  auto axes = [&](const std::vector<NestAxis>& list) {
    for (const NestAxis& axis : list) dim(axis.extent);
  };
  auto target = [&](const CallTarget& t) {
    dims(t.dims);
    for (const InoutArg& arg : t.inouts) steps(arg.place.steps);
  };
  types_.collectSymbols(node.type, used);
  if (auto* d = std::get_if<Dim>(&node.payload))
    dim(d->dim);
  else if (auto* list = std::get_if<Dims>(&node.payload))
    dims(list->dims);
  else if (auto* p = std::get_if<Steps>(&node.payload))
    steps(p->steps);
  else if (auto* place = std::get_if<Place>(&node.payload))
    steps(place->steps);
  else if (auto* update = std::get_if<Update>(&node.payload))
    steps(update->place.steps);
  else if (auto* within = std::get_if<Within>(&node.payload))
    steps(within->place.steps);
  else if (auto* checks = std::get_if<DimChecks>(&node.payload))
    for (const DimCheckItem& item : checks->items) {
      dims({item.left, item.right});
      dims(item.shown);
    }
  else if (auto* scatter = std::get_if<Scatter>(&node.payload))
    axes(scatter->axes);
  else if (auto* nest = std::get_if<Nest>(&node.payload))
    axes(nest->axes);
  else if (auto* call = std::get_if<CallTarget>(&node.payload))
    target(*call);
  else if (auto* derivative = std::get_if<DerivativeRef>(&node.payload))
    target(derivative->target);
}

/// The dimension symbols that types and sizes of the instance mention.
void BodyLowering::collectUsedSymbols() {
  std::vector<DimSym> used;
  for (const Node& node : instance_.nodes) symbolsOf(node, used);
  for (const Local& local : instance_.locals) types_.collectSymbols(local.type, used);
  for (const Pattern& pattern : instance_.patterns) types_.collectSymbols(pattern.type, used);
  types_.collectSymbols(instance_.result, used);
  usedSymbols_.insert(used.begin(), used.end());
}

/// The variables that a part of the tree changes, or parts of them.
void BodyLowering::writtenIn(NodeId n, std::set<LocalId>& roots) {
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    if (auto* place = std::get_if<Place>(&node.payload))
      roots.insert(place->root);
    else if (auto* update = std::get_if<Update>(&node.payload))
      roots.insert(update->place.root);
    else if (auto* within = std::get_if<Within>(&node.payload))
      roots.insert(within->place.root);
    else if (auto* arms = std::get_if<Arms>(&node.payload))
      for (const Place& matched : arms->places) roots.insert(matched.root);
    else if (auto* target = std::get_if<CallTarget>(&node.payload))
      for (const InoutArg& arg : target->inouts) roots.insert(arg.place.root);
  });
}

std::set<LocalId> BodyLowering::assignedIn(const std::vector<NodeId>& nodes) {
  std::set<LocalId> roots;
  for (NodeId n : nodes) writtenIn(n, roots);
  std::set<LocalId> outer;
  for (LocalId l : roots)
    if (values_.contains(l)) outer.insert(l);
  return outer;
}

/// Whether a loop over `body` may end before its range does: by break, by return, or for an outer loop.
bool BodyLowering::leavesEarly(NodeId body, uint32_t loop) {
  if (exitsIn(body, true, {loop})) return true;
  bool breaks = false;
  visit(body, [&](NodeId k) {
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
  childrenOf(n, [&](NodeId child) { found = found || exitsIn(child, onlyOutside, inside); });
  return found;
}

} // namespace melix::lower
