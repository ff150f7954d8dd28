// What a part of a builder's body reads, and so which of the indices it depends on (rule 13).
#include "lower/body.h"
#include "lower/patterns.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

/// What is done each time is the point's own.
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
  if (node.kind != NodeKind::Let && node.kind != NodeKind::Match) return;
  Needs given = needs(node.children[0]);
  if (node.kind == NodeKind::Match) given.own |= !node.as<Arms>().places.empty();
  Names defined;
  collectDefined(instance_, node.children[0], defined);
  for (DimSym s : defined.sizes) sweep_.sizes[s] = given;
  if (node.kind == NodeKind::Let) return bind(node.as<PatternRef>().pattern, given);
  for (const check::Arm& arm : node.as<Arms>().arms) bind(arm.pattern, given);
}

/// Adds the sizes that the extents of axes mention.
void BodyLowering::addSizes(std::span<const NestAxis> axes, Names& reads) {
  for (const NestAxis& axis : axes) {
    std::vector<DimSym> symbols;
    types_.dims.collectSymbols(axis.extent, symbols);
    reads.sizes.insert(symbols.begin(), symbols.end());
  }
}

/// What the extents of axes need.
BodyLowering::Needs BodyLowering::needsOf(std::span<const NestAxis> axes) {
  Names reads;
  addSizes(axes, reads);
  return needs(reads);
}

/// Whether the axis has a size that is known before the sweep.
bool BodyLowering::isKnownAhead(const NestAxis& axis) {
  std::vector<DimSym> symbols;
  types_.dims.collectSymbols(axis.extent, symbols);
  const bool later = std::any_of(symbols.begin(), symbols.end(), [&](DimSym s) { return isLater(s); });
  return !later && needsOf(std::span(&axis, 1)).within(0) && sweep_.axes.size() < 63;
}

/// The index needs an axis of the sweep, or what only the point at hand has.
void BodyLowering::introduceIndex(LocalId index, const Needs& given) {
  sweep_.locals[index] = given;
  if (DimSym s = instance_.locals[index].asDim) sweep_.sizes[s] = given;
}
void BodyLowering::introduceAxis(const NestAxis& axis) {
  const Needs one{uint64_t(1) << sweep_.axes.size(), false};
  sweep_.axes.push_back(axis);
  introduceIndex(axis.index, one);
}

/// The axes of a builder become axes of the sweep, if each is known ahead.
bool BodyLowering::introduceAxes(std::span<const NestAxis> axes) {
  if (!std::all_of(axes.begin(), axes.end(), [&](const NestAxis& axis) { return isKnownAhead(axis); }))
    return false;
  for (const NestAxis& axis : axes) introduceAxis(axis);
  return true;
}

/// The axes of a sweep inside: those that are known ahead are of this sweep too. The others, which this
/// gives, stay open: what their indices are needed for stays in them.
std::vector<NestAxis> BodyLowering::introduceInner(std::span<const NestAxis> axes) {
  std::vector<NestAxis> open;
  for (const NestAxis& axis : axes) {
    if (isKnownAhead(axis)) {
      introduceAxis(axis);
      continue;
    }
    sweep_.open.insert(axis.index);
    introduceIndex(axis.index, {0, true});
    open.push_back(axis);
  }
  return open;
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
