// What a part of a builder's body reads, and so which of the indices it depends on (rule 13).
#include "lower/body.h"
#include "lower/patterns.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

/// What gives another value each time is the point's own.
BodyLowering::Needs BodyLowering::needs(NodeId n) {
  Names reads;
  collectRead(instance_, types_, n, reads);
  Needs out = needs(reads);
  forEachNode(instance_, n, [&](NodeId k) { out.own |= lowering_.isNew(instance_.nodes[k]); });
  return out;
}

/// What is known before the sweep needs nothing. Variables, and names bound where no way leads, are the
/// point's own.
BodyLowering::Needs BodyLowering::needs(const Names& reads) {
  Needs out;
  for (LocalId l : reads.locals)
    if (auto found = sweep_.locals.find(l); found != sweep_.locals.end())
      out.join(found->second);
    else
      out.own |= !values_.contains(l);
  for (DimSym s : reads.sizes)
    if (auto found = sweep_.sizes.find(s); found != sweep_.sizes.end())
      out.join(found->second);
    else
      out.own |= isLater(s);
  return out;
}

/// The names that `n` binds for what follows, or for its arms, need what they are bound to needs.
void BodyLowering::introduce(NodeId n) {
  const Node& node = instance_.nodes[n];
  auto bind = [&](PatternId p, const Needs& given) {
    std::vector<LocalId> locals;
    std::vector<DimSym> sizes;
    namesOf(instance_, p, locals, sizes);
    for (LocalId l : locals) {
      Needs own = given;
      own.own |= instance_.locals[l].isVar;
      sweep_.locals[l] = own;
      if (instance_.locals[l].asDim) sweep_.sizes[instance_.locals[l].asDim] = own;
    }
    for (DimSym s : sizes) sweep_.sizes[s] = given;
  };
  if (node.kind == NodeKind::Let) {
    Needs given = needs(node.children[0]);
    Names defined;
    collectDefined(instance_, node.children[0], defined);
    for (DimSym s : defined.sizes) sweep_.sizes[s] = given;
    bind(node.as<PatternRef>().pattern, given);
  } else if (node.kind == NodeKind::Match) {
    Needs given = needs(node.children[0]);
    given.own |= !node.as<Arms>().places.empty();
    for (const check::Arm& arm : node.as<Arms>().arms) bind(arm.pattern, given);
  }
}

/// What the extents of axes need.
BodyLowering::Needs BodyLowering::needsOf(std::span<const NestAxis> axes) {
  Names reads;
  for (const NestAxis& axis : axes) {
    std::vector<DimSym> symbols;
    types_.dims.collectSymbols(axis.extent, symbols);
    reads.sizes.insert(symbols.begin(), symbols.end());
  }
  return needs(reads);
}

/// The axes of a nest become axes of the sweep, if each has a size that is known before it.
bool BodyLowering::introduceAxes(std::span<const NestAxis> axes) {
  std::vector<DimSym> symbols;
  for (const NestAxis& axis : axes) types_.dims.collectSymbols(axis.extent, symbols);
  bool later = std::any_of(symbols.begin(), symbols.end(), [&](DimSym s) { return isLater(s); });
  if (later || !needsOf(axes).within(0) || sweep_.axes.size() + axes.size() > 63) return false;
  for (const NestAxis& axis : axes) {
    Needs one{uint64_t(1) << sweep_.axes.size(), false};
    sweep_.axes.push_back(axis);
    sweep_.locals[axis.index] = one;
    if (DimSym s = instance_.locals[axis.index].asDim) sweep_.sizes[s] = one;
  }
  return true;
}

/// Whether lowering `n` again would do work twice, or show something twice.
bool BodyLowering::heavy(NodeId n) {
  if (hoisted_.contains(n)) return false;
  bool found = lowering_.isHeavy(instance_.nodes[n]);
  if (!found) forEachChild(instance_.nodes[n], [&](NodeId child) { found = found || heavy(child); });
  return found;
}

/// Whether what stands after `n` may not be reached: by an exit or by a panic that is written there.
bool BodyLowering::stops(NodeId n) {
  if (exitsIn(instance_, n)) return true;
  bool found = false;
  forEachNode(instance_, n, [&](NodeId k) {
    NodeKind kind = instance_.nodes[k].kind;
    found |= kind == NodeKind::Assert || kind == NodeKind::Panic;
  });
  return found;
}

} // namespace melix::lower
