// What a part of a builder's body reads, and so which of the indices it depends on (rule 13).
#include "lower/body.h"
#include "lower/hoist.h"
#include "lower/patterns.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

namespace {

/// Whether the axis has a size that is known before the sweep.
bool isKnownAhead(BodyLowering& fn, const NestAxis& axis) {
  std::vector<DimSym> symbols;
  fn.types.dims.collectSymbols(axis.extent, symbols);
  const bool later =
      std::any_of(symbols.begin(), symbols.end(), [&](DimSym s) { return fn.sizes.isLater(s); });
  return !later && needsOf(fn, std::span(&axis, 1)).within(0) && fn.hoisting.sweep.axes.size() < 63;
}

/// The index needs an axis of the sweep, or what only the point at hand has.
void introduceIndex(BodyLowering& fn, LocalId index, const Needs& given) {
  fn.hoisting.sweep.locals[index] = given;
  if (DimSym s = fn.instance.locals[index].asDim) fn.hoisting.sweep.sizes[s] = given;
}
void introduceAxis(BodyLowering& fn, const NestAxis& axis) {
  const Needs one{uint64_t(1) << fn.hoisting.sweep.axes.size(), false};
  fn.hoisting.sweep.axes.push_back(axis);
  introduceIndex(fn, axis.index, one);
}

} // namespace

/// What is done each time is the point's own.
Needs needs(BodyLowering& fn, NodeId n) {
  Names reads;
  collectRead(fn.instance, fn.types, n, reads);
  Needs out = needs(fn, reads);
  forEachNode(fn.instance, n, [&](NodeId k) { out.own |= fn.lowering.isNew(fn.instance.nodes[k]); });
  return out;
}

/// What is known before the sweep needs nothing. Variables, and names bound where no way leads, are the
/// point's own.
Needs needs(BodyLowering& fn, const Names& reads) {
  Needs out;
  for (LocalId l : reads.locals)
    if (auto found = fn.hoisting.sweep.locals.find(l); found != fn.hoisting.sweep.locals.end())
      out.join(found->second);
    else
      out.own |= !fn.values.contains(l);
  for (DimSym s : reads.sizes)
    if (auto found = fn.hoisting.sweep.sizes.find(s); found != fn.hoisting.sweep.sizes.end())
      out.join(found->second);
    else
      out.own |= fn.sizes.isLater(s);
  return out;
}

/// The names that `n` binds for what follows, or for its arms, need what they are bound to needs.
void introduce(BodyLowering& fn, NodeId n) {
  const Node& node = fn.instance.nodes[n];
  auto bind = [&](PatternId p, const Needs& given) {
    std::vector<LocalId> locals;
    std::vector<DimSym> sizes;
    namesOf(fn.instance, p, locals, sizes);
    for (LocalId l : locals) {
      Needs own = given;
      own.own |= fn.instance.locals[l].isVar;
      fn.hoisting.sweep.locals[l] = own;
      if (fn.instance.locals[l].asDim) fn.hoisting.sweep.sizes[fn.instance.locals[l].asDim] = own;
    }
    for (DimSym s : sizes) fn.hoisting.sweep.sizes[s] = given;
  };
  if (node.kind != NodeKind::Let && node.kind != NodeKind::Match) return;
  Needs given = needs(fn, node.children[0]);
  if (node.kind == NodeKind::Match) given.own |= !node.as<Arms>().places.empty();
  Names defined;
  collectDefined(fn.instance, node.children[0], defined);
  for (DimSym s : defined.sizes) fn.hoisting.sweep.sizes[s] = given;
  if (node.kind == NodeKind::Let) return bind(node.as<PatternRef>().pattern, given);
  for (const check::Arm& arm : node.as<Arms>().arms) bind(arm.pattern, given);
}

/// Adds the sizes that the extents of axes mention.
void addSizes(BodyLowering& fn, std::span<const NestAxis> axes, Names& reads) {
  for (const NestAxis& axis : axes) {
    std::vector<DimSym> symbols;
    fn.types.dims.collectSymbols(axis.extent, symbols);
    reads.sizes.insert(symbols.begin(), symbols.end());
  }
}

/// What the extents of axes need.
Needs needsOf(BodyLowering& fn, std::span<const NestAxis> axes) {
  Names reads;
  addSizes(fn, axes, reads);
  return needs(fn, reads);
}

/// The axes of a builder become axes of the sweep, if each is known ahead.
bool introduceAxes(BodyLowering& fn, std::span<const NestAxis> axes) {
  if (!std::all_of(axes.begin(), axes.end(), [&](const NestAxis& axis) { return isKnownAhead(fn, axis); }))
    return false;
  for (const NestAxis& axis : axes) introduceAxis(fn, axis);
  return true;
}

/// The axes of a sweep inside: those that are known ahead are of this sweep too. The others, which this
/// gives, stay open: what their indices are needed for stays in them.
std::vector<NestAxis> introduceInner(BodyLowering& fn, std::span<const NestAxis> axes) {
  std::vector<NestAxis> open;
  for (const NestAxis& axis : axes) {
    if (isKnownAhead(fn, axis)) {
      introduceAxis(fn, axis);
      continue;
    }
    fn.hoisting.sweep.open.insert(axis.index);
    introduceIndex(fn, axis.index, {0, true});
    open.push_back(axis);
  }
  return open;
}

/// Whether lowering `n` again would do work twice, or show something twice.
bool heavy(BodyLowering& fn, NodeId n) {
  if (fn.hoisting.ahead.contains(n)) return false;
  bool found = fn.lowering.isHeavy(fn.instance.nodes[n]);
  if (!found) forEachChild(fn.instance.nodes[n], [&](NodeId child) { found = found || heavy(fn, child); });
  return found;
}

/// Whether what stands after `n` may not be reached: by an exit or by a panic that is written there.
bool stops(BodyLowering& fn, NodeId n) {
  if (exitsIn(fn.instance, n)) return true;
  bool found = false;
  forEachNode(fn.instance, n, [&](NodeId k) {
    NodeKind kind = fn.instance.nodes[k].kind;
    found |= kind == NodeKind::Assert || kind == NodeKind::Panic;
  });
  return found;
}

} // namespace melix::lower
