// What a part of the typed tree assigns, and its sizes.
#include "lower/body.h"
#include "lower/loops.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

/// The sizes that the body defines, and those that its types mention.
void collectSizes(BodyLowering& fn) {
  std::vector<DimSym> used;
  for (const Node& node : fn.instance.nodes) collectSymbols(node, fn.types, used);
  for (const Local& local : fn.instance.locals) fn.types.collectSymbols(local.type, used);
  for (const Pattern& pattern : fn.instance.patterns) fn.types.collectSymbols(pattern.type, used);
  fn.types.collectSymbols(fn.instance.result, used);
  fn.sizes.used.insert(used.begin(), used.end());
  Names defined;
  collectDefined(fn.instance, fn.instance.body, defined);
  fn.sizes.own = std::move(defined.sizes);
  for (const Local& local : fn.instance.locals)
    if (local.asDim) fn.sizes.own.insert(local.asDim);
}

std::set<LocalId> assignedIn(BodyLowering& fn, const std::vector<NodeId>& nodes) {
  std::set<LocalId> roots;
  for (NodeId n : nodes) collectChanged(fn.instance, n, roots);
  std::set<LocalId> outer;
  for (LocalId l : roots)
    if (fn.values.contains(l)) outer.insert(l);
  return outer;
}

} // namespace melix::lower
