// Ranges of the indices of builders, from how they are used (rule 28).
#include "check/attempt.h"
#include "check/free_names.h"

namespace melix::check {

using namespace syntax;

/// The index as Σ c·header index + constant, computed exactly; false if it is anything else.
bool Body::affine(NodeId n, IndexUse& use, int64_t scale) {
  const Node node = instance.nodes[n];
  types::DimStore& dims = types.dims;
  if (node.kind == NodeKind::Convert) return affine(node.children[0], use, scale);
  if (node.kind == NodeKind::Local) {
    LocalId l = node.as<LocalRef>().local;
    for (const HeaderIndex& h : headerIndices) {
      if (h.local != l && h.named != l) continue;
      if (h.named == l && !h.step) return false;
      int64_t coefficient = scale;
      if (h.named == l && __builtin_mul_overflow(scale, h.step, &coefficient)) return false;
      use.terms.emplace_back(h.local, coefficient);
      if (h.named == l && h.first)
        use.constant = dims.add(use.constant, dims.mul(dims.constant(scale), h.first));
      return true;
    }
  }
  if (node.kind == NodeKind::Op && node.children.size() == 2) {
    OpKind k = node.as<OpRef>().kind;
    if (k == OpKind::Add || k == OpKind::Sub)
      return affine(node.children[0], use, scale) && (k == OpKind::Add || scale != INT64_MIN) &&
             affine(node.children[1], use, k == OpKind::Sub ? -scale : scale);
    if (k == OpKind::Mul)
      for (size_t side = 0; side < 2; ++side)
        if (auto factor = b.literal(node.children[side]))
          return !__builtin_mul_overflow(scale, *factor, &scale) &&
                 affine(node.children[1 - side], use, scale);
  }
  DimId d = b.dimOf(n);
  if (d) use.constant = dims.add(use.constant, dims.mul(dims.constant(scale), d));
  return d.valid();
}

void Body::noteIndexUse(NodeId index, DimId extent) {
  if (headerIndices.empty()) return;
  IndexUse use;
  use.constant = types.dims.constant(0);
  use.extent = extent;
  use.span = b.spanOf(index);
  if (!affine(index, use, 1) || use.terms.empty()) return;
  for (const HeaderIndex& h : headerIndices)
    for (auto [local, coefficient] : use.terms)
      use.conditional |= local == h.local && conditions > h.conditions;
  indexUses.push_back(std::move(use));
}

/// Indices that only functions in the body use, `[for b: grad(w => w * x[b])(1.0)]`: these are read as if
/// they stood before the functions, where nothing in the body binds their names.
void Body::noteUsesInFunctions(SynId body) {
  auto mayGive = [&](NameId name) {
    return std::any_of(headerIndices.begin(), headerIndices.end(),
                       [&](const HeaderIndex& h) { return !h.given && h.name == name; });
  };
  std::vector<Span> functions;
  forEachInside(ast, body, [&](SynId node, const IsBound& isBound) {
    const Span at = ast.span(node);
    if (ast.kind(node) == SynKind::Lambda || ast.kind(node) == SynKind::Fn) functions.push_back(at);
    bool inside = std::any_of(functions.begin(), functions.end(),
                              [&](Span f) { return f.begin <= at.begin && at.end <= f.end; });
    if (!inside || ast.kind(node) != SynKind::Brackets) return;
    bool gives = false, free = true;
    forEachInside(ast, node, [&](SynId part, const IsBound&) {
      if (ast.kind(part) != SynKind::Name) return;
      NameId name = ast[part].as<Name>().name;
      gives |= mayGive(name);
      free &= !isBound(name);
    });
    if (!gives || !free) return;
    const BuilderFrame frame = builders.back();
    Attempt attempt(*this);
    ++conditions;    // whether the function is called is not known
    checkExpr(node); // notes its indices
    --conditions;
    attempt.drop();
    builders.back() = frame;
  });
}

/// Whether a size is known in front of the builder at hand: nothing in its body defines it.
bool Body::knownAhead(DimId d) {
  const BuilderFrame& frame = builders.back();
  std::vector<DimSym> symbols;
  types.dims.collectSymbols(infer.zonk(d), symbols);
  return std::all_of(symbols.begin(), symbols.end(), [&](DimSym s) {
    types::DimSymKind kind = types.dims.info(s).kind;
    if (kind == types::DimSymKind::Unknown)
      return s.index < frame.firstSymbol || frame.aheadSymbols.contains(s);
    if (kind == types::DimSymKind::Value)
      for (uint32_t k = frame.firstLocal; k < instance.locals.size(); ++k)
        if (instance.locals[LocalId(k)].asDim == s) return false;
    return true;
  });
}

/// What `use` adds to `index` at most: its constant and the last values of the other indices. None while
/// these have no range, or if one of them is subtracted.
DimId Body::reachBeside(const IndexUse& use, const HeaderIndex& index) {
  types::DimStore& dims = types.dims;
  DimId reach = use.constant;
  for (auto [local, coefficient] : use.terms)
    for (const HeaderIndex& other : headerIndices) {
      if (other.local != local || local == index.local) continue;
      DimId extent = infer.zonk(dims.symbol(other.extent));
      if (infer.hasInferenceDim(extent) || coefficient < 0) return DimId::none();
      reach = dims.add(reach, dims.mul(dims.constant(coefficient), dims.sub(extent, dims.constant(1))));
    }
  return reach;
}

/// The largest range of `index` that keeps `use` in bounds; none if the use does not say.
DimId Body::rangeFrom(const IndexUse& use, const HeaderIndex& index) {
  types::DimStore& dims = types.dims;
  int64_t factor = 0;
  for (auto [local, coefficient] : use.terms)
    if (local == index.local && __builtin_add_overflow(factor, coefficient, &factor)) return DimId::none();
  DimId reach = factor >= 1 ? reachBeside(use, index) : DimId::none();
  DimId extent = infer.zonk(use.extent);
  if (!reach || infer.hasInferenceDim(extent) || !knownAhead(extent) || !knownAhead(reach))
    return DimId::none();
  DimId room = dims.sub(dims.sub(extent, dims.constant(1)), reach);
  return dims.add(dims.floorDiv(room, dims.constant(factor)), dims.constant(1));
}

/// Bare uses `a[…, i, …]` give an index the extents of their axes, which must be equal.
bool Body::rangesFromBareUses(std::vector<DimCheckItem>& checks) {
  bool ok = true;
  for (const HeaderIndex& h : headerIndices) {
    if (h.given || h.builder != builders.size()) continue;
    DimId self = types.dims.symbol(h.extent);
    std::string name(types.names.text(h.name));
    for (const IndexUse& use : indexUses) {
      bool bare = use.terms.size() == 1 && use.terms[0] == std::pair(h.local, int64_t(1)) &&
                  types.dims.asConstant(use.constant) == 0;
      if (!bare || !knownAhead(use.extent)) continue;
      UnifyKind match = infer.unifyDim(self, use.extent);
      if (match == UnifyKind::NeedsCheck)
        checks.push_back({infer.zonk(self),
                          infer.zonk(use.extent),
                          diagMessage({DiagId::RangesDiffer, {}, {name, "{0}", "{1}"}, {}, {}}),
                          {},
                          0});
      if (match != UnifyKind::DimsDiffer) continue;
      sink.report(DiagId::RangesDiffer, use.span, name, types.dims.show(infer.zonk(self)),
                  types.dims.show(infer.zonk(use.extent)));
      ok = false;
    }
  }
  return ok;
}

/// The range that all uses as c·i + other indices + constant give an index; none if they give none, `differ`
/// if several.
DimId Body::rangeFromUses(const HeaderIndex& index, bool& differ) {
  DimId found;
  for (const IndexUse& use : indexUses) {
    DimId range = rangeFrom(use, index);
    if (!range || range == found) continue;
    if (!found) {
      found = range;
      continue;
    }
    sink.report(DiagId::RangesDiffer, use.span, types.names.text(index.name), types.dims.show(found),
                types.dims.show(range));
    differ = true;
    return found;
  }
  return found;
}

/// Solves the extents of the indices of the builder at hand; false after an error.
bool Body::resolveRanges(std::vector<DimCheckItem>& checks, NodeId value) {
  if (!rangesFromBareUses(checks)) return false;
  auto open = [&](const HeaderIndex& h) {
    DimId self = types.dims.symbol(h.extent);
    return !h.given && h.builder == builders.size() && infer.zonk(self) == self;
  };
  for (bool solved = true; solved;) { // a range found may give those of others
    solved = false;
    for (const HeaderIndex& h : headerIndices) {
      if (!open(h)) continue;
      bool differ = false;
      DimId found = rangeFromUses(h, differ);
      if (differ) return false;
      solved |= found && infer.solve(h.extent, found);
    }
  }
  auto left = std::find_if(headerIndices.begin(), headerIndices.end(), open);
  if (left == headerIndices.end()) return true;
  if (!meetsError(value)) sink.report(DiagId::RangeNeeded, left->span, types.names.text(left->name));
  return false;
}

/// Whether what went wrong elsewhere is part of a value.
bool Body::meetsError(NodeId value) {
  const Node& node = instance.nodes[value];
  if ((node.kind == NodeKind::Error || node.kind == NodeKind::Local) && b.kindOf(value) == TypeKind::Error)
    return true;
  const std::vector<NodeId> children = node.children;
  return std::any_of(children.begin(), children.end(),
                     [this](NodeId child) { return child.valid() && meetsError(child); });
}

/// A use that is out of range for every value of its indices, or for some and under no condition, is an
/// error.
bool Body::checkReach(const IndexUse& use) {
  types::DimStore& dims = types.dims;
  DimId low = use.constant, high = use.constant;
  const HeaderIndex* own = nullptr;
  for (auto [local, coefficient] : use.terms)
    for (const HeaderIndex& h : headerIndices) {
      if (h.local != local) continue;
      DimId last = dims.sub(infer.zonk(dims.symbol(h.extent)), dims.constant(1));
      DimId& end = coefficient > 0 ? high : low;
      end = dims.add(end, dims.mul(dims.constant(coefficient), last));
      if (!own && !h.given) own = &h;
    }
  low = infer.zonk(low), high = infer.zonk(high);
  DimId extent = infer.zonk(use.extent), above = dims.sub(high, extent);
  auto lowest = dims.asConstant(low), highest = dims.asConstant(high), over = dims.asConstant(above),
       overAll = dims.asConstant(dims.sub(low, extent));
  bool some = (lowest && *lowest < 0) || (over && *over >= 0);
  bool every = (highest && *highest < 0) || (overAll && *overAll >= 0);
  if (!(use.conditional ? every : some)) return true;
  bool below = lowest && *lowest < 0;
  Diagnostic& d = sink.report(DiagId::IndexLeavesRange, use.span, c.modules.sources.text(use.span),
                              dims.show(below ? low : high), dims.show(extent));
  if (!own) return false;
  std::string range = std::string(types.names.text(own->name)) + " in ";
  bool single = use.terms.size() == 1 && use.terms[0].second == 1;
  const bool isEmpty = dims.sub(infer.zonk(dims.symbol(own->extent)),
                                dims.constant(below && single ? -*lowest : 0)) == dims.constant(0);
  if (isEmpty) return false;
  if (below && single)
    d.hint = "give the range: `" + range + std::to_string(-*lowest) + ".." +
             dims.show(infer.zonk(dims.symbol(own->extent))) + "`";
  else if (DimId fits = below ? DimId::none() : rangeFrom(use, *own))
    d.hint = "give the range: `" + range + "0.." + dims.show(fits) + "`";
  return false;
}

/// Whether `node` reads one of the locals from `first` up to `last`.
bool Body::readsFrom(NodeId node, uint32_t first, uint32_t last) {
  const Node& n = instance.nodes[node];
  if (auto* ref = std::get_if<LocalRef>(&n.payload))
    if (ref->local.index >= first && ref->local.index < last) return true;
  auto reads = [&](NodeId part) { return part.valid() && readsFrom(part, first, last); };
  auto steps = [&](const Place& place) {
    bool root = place.root.index >= first && place.root.index < last;
    return root || std::any_of(place.steps.begin(), place.steps.end(),
                               [&](const Step& s) { return reads(s.index) || reads(s.end); });
  };
  if (auto* own = std::get_if<Steps>(&n.payload))
    if (steps({LocalId::none(), own->steps, {}})) return true;
  if (auto* call = std::get_if<CallTarget>(&n.payload))
    for (const InoutArg& arg : call->inouts)
      if (steps(arg.place)) return true;
  if (auto* arms = std::get_if<Arms>(&n.payload))
    for (const Arm& arm : arms->arms)
      if (reads(arm.guard) || reads(arm.body)) return true;
  return std::any_of(n.children.begin(), n.children.end(), reads);
}

/// An array whose size is only known once it is evaluated, and gives the range of an index: it is evaluated
/// in front of the builder that the index belongs to. Locals from `firstOwn` on belong to `base`.
NodeId Body::aheadOfBuilder(NodeId base, uint32_t firstOwn, const std::vector<Argument>& items) {
  if (builders.empty() || instance.nodes[base].kind == NodeKind::Local || b.kindOf(base) != TypeKind::Array)
    return base;
  std::vector<DimSym> symbols;
  types.collectSymbols(b.typeOf(base), symbols);
  bool unknown = std::any_of(symbols.begin(), symbols.end(),
                             [&](DimSym s) { return types.dims.info(s).kind == types::DimSymKind::Unknown; });
  size_t first = headerIndices.size(); // the outermost index without a range among the items
  std::function<void(SynId)> look = [&](SynId s) {
    if (ast.kind(s) == SynKind::Name)
      for (size_t k = 0; k < headerIndices.size(); ++k)
        if (!headerIndices[k].given && headerIndices[k].local == lookupAny(ast[s].as<Name>().name))
          first = std::min(first, k);
    forEachChild(ast, s, look);
  };
  for (const Argument& item : items) look(item.value);
  if (!unknown || first == headerIndices.size()) return base;
  size_t k = headerIndices[first].builder - 1;
  if (readsFrom(base, builders[k].firstLocal, firstOwn)) return base;
  builders[k].aheadSymbols.insert(symbols.begin(), symbols.end());
  return b.local(b.bind("xs", base, builders[k].ahead), b.spanOf(base));
}

} // namespace melix::check
