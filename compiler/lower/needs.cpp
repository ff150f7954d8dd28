// What a part of a builder's body reads, and so which of the indices it depends on (rule 13).
#include "lower/body.h"

#include <algorithm>

namespace melix::lower {

using namespace check;

bool BodyLowering::Names::meets(const Names& other) const {
  auto common = [](const auto& a, const auto& b) {
    return std::any_of(a.begin(), a.end(), [&](auto x) { return b.contains(x); });
  };
  return common(locals, other.locals) || common(sizes, other.sizes);
}

/// The locals and sizes that `n` defines for itself.
void BodyLowering::definedIn(NodeId n, Names& names) {
  auto& [locals, sizes] = names;
  std::function<void(PatternId)> bound = [&](PatternId p) {
    const Pattern& pattern = instance_.patterns[p];
    if (pattern.local) locals.insert(pattern.local);
    sizes.insert(pattern.unpacked.begin(), pattern.unpacked.end());
    for (PatternId sub : pattern.subs) bound(sub);
  };
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    sizes.insert(node.resultDims.begin(), node.resultDims.end());
    if (auto* let = std::get_if<PatternRef>(&node.payload)) bound(let->pattern);
    if (auto* arms = std::get_if<Arms>(&node.payload))
      for (const check::Arm& arm : arms->arms) bound(arm.pattern);
    if (auto* nest = std::get_if<Nest>(&node.payload)) {
      for (const NestAxis& axis : nest->axes) locals.insert(axis.index);
      if (nest->kind == NestKind::Reduce) locals.insert({nest->left, nest->right});
    }
    if (auto* scatter = std::get_if<Scatter>(&node.payload))
      for (const NestAxis& axis : scatter->axes) locals.insert(axis.index);
    if (auto* elements = std::get_if<Elementwise>(&node.payload))
      locals.insert(elements->elements.begin(), elements->elements.end());
    if (auto* loop = std::get_if<check::For>(&node.payload)) locals.insert(loop->index);
    if (auto* update = std::get_if<Update>(&node.payload)) locals.insert({update->value, update->current});
    if (auto* within = std::get_if<Within>(&node.payload)) locals.insert(within->local);
  });
  for (LocalId l : locals)
    if (instance_.locals[l].asDim) sizes.insert(instance_.locals[l].asDim);
}

/// The locals and sizes that `n` reads and does not define itself; a variable it changes counts as read.
void BodyLowering::readIn(NodeId n, Names& names) {
  Names own, all;
  definedIn(n, own);
  writtenIn(n, all.locals);
  std::vector<DimSym> used;
  visit(n, [&](NodeId k) {
    const Node& node = instance_.nodes[k];
    if (auto* ref = std::get_if<LocalRef>(&node.payload)) all.locals.insert(ref->local);
    symbolsOf(node, used);
  });
  for (LocalId l : all.locals)
    if (!own.locals.contains(l)) names.locals.insert(l);
  for (DimSym s : used)
    if (!own.sizes.contains(s)) names.sizes.insert(s);
}

BodyLowering::Needs BodyLowering::needs(NodeId n) {
  Names reads;
  readIn(n, reads);
  return needs(reads);
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
      out.own |= innerSymbols_.contains(s) && !dimMap_.contains(s);
  return out;
}

/// The names that `n` binds for what follows, or for its arms, need what they are bound to needs.
void BodyLowering::introduce(NodeId n) {
  const Node& node = instance_.nodes[n];
  auto bind = [&](PatternId p, const Needs& given) {
    std::vector<LocalId> locals;
    std::vector<DimSym> sizes;
    namesOf(p, locals, sizes);
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
    definedIn(node.children[0], defined);
    for (DimSym s : defined.sizes) sweep_.sizes[s] = given;
    bind(node.as<PatternRef>().pattern, given);
  } else if (node.kind == NodeKind::Match) {
    Needs given = needs(node.children[0]);
    given.own |= !node.as<Arms>().places.empty();
    for (const check::Arm& arm : node.as<Arms>().arms) bind(arm.pattern, given);
  }
}

/// The axes of a nest become axes of the sweep, if each has a size that is known before it.
bool BodyLowering::introduceAxes(const Nest& ref) {
  Names reads;
  for (const NestAxis& axis : ref.axes) {
    std::vector<DimSym> symbols;
    types_.dims.collectSymbols(axis.extent, symbols);
    reads.sizes.insert(symbols.begin(), symbols.end());
  }
  bool later = std::any_of(reads.sizes.begin(), reads.sizes.end(), [&](DimSym s) {
    return innerSymbols_.contains(s) && !dimMap_.contains(s); // the body says what it is
  });
  if (later || !needs(reads).within(0) || sweep_.axes.size() + ref.axes.size() > 63) return false;
  for (const NestAxis& axis : ref.axes) {
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
  if (!found) childrenOf(n, [&](NodeId child) { found = found || heavy(child); });
  return found;
}

/// Whether what stands after `n` may not be reached: by an exit or by a panic that is written there.
bool BodyLowering::stops(NodeId n) {
  if (exitsIn(n, true, {})) return true;
  bool found = false;
  visit(n, [&](NodeId k) {
    NodeKind kind = instance_.nodes[k].kind;
    found |= kind == NodeKind::Assert || kind == NodeKind::Panic;
  });
  return found;
}

} // namespace melix::lower
