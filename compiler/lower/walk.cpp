// What a part of the typed tree assigns, and its sizes.
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

} // namespace melix::lower
